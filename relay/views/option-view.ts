import type { OptionsEvent } from '#domain/options/events.ts'
import {
  optionFlag,
  optionInteger,
  optionJson,
  optionValue,
} from '#domain/options/option-registry.ts'
import {
  DEFAULT_OUTPUT_CAP_KEY,
  OUTPUT_CAPS_KEY,
  type OutputCaps,
  readOutputCaps,
} from '#domain/pricing/output-limits-by-model.ts'
import { type PriceList, readPriceList } from '#domain/pricing/price-list.ts'
import type { Recorded } from '#domain/shared/event.ts'
import {
  type AdapterOptions,
  readAdapterOptions,
} from '#relay/adapters/read-claude-and-gemini-options.ts'
import { type HealthOptions, readHealthOptions } from '#relay/channel-health/health-options.ts'
import { type Screening, screeningReader } from '../screening/word-screening.ts'

/** The options of the site that the relay uses. */
export type RelayOptions = {
  readonly retryTimes: number
  /** The time after which an idle session is forgotten. Null if session affinity is turned off. */
  readonly sessionIdleMs: number | null
  /**
   * The minimum quota held for the output of each choice if neither the caller nor the model limits
   * the output.
   */
  readonly preConsumedQuota: bigint
  /** The maximum number of output tokens per choice, by the name of the model that callers use. */
  readonly outputCaps: OutputCaps
  /** The maximum number of output tokens for models without an entry in `outputCaps`. */
  readonly defaultOutputCap: number
  /**
   * The output limits by model name. They are sent if a request has no output limit and the
   * provider's format requires one.
   */
  readonly messagesOutputDefaults: OutputCaps
  readonly adapters: AdapterOptions
  readonly isUpstreamErrorHidden: boolean
  /**
   * True in pass-through mode. In this mode, the channels' overrides are not applied, and the
   * gateway parses each request and serializes it again.
   */
  readonly isPassThrough: boolean
  readonly isBrowserExtensionBlocked: boolean
  /** True if the content of converted responses is stored for later requests that refer to it. */
  readonly storesConvertedResponses: boolean
  readonly health: HealthOptions
  /** The interval of ping comments in idle streams, or null if no pings are sent. */
  readonly pingIntervalMs: number | null
  /**
   * The price of one US dollar in yuan, as decimal text. Used to convert balances that providers
   * report in yuan.
   */
  readonly yuanPerDollar: string
  readonly usableGroups: ReadonlySet<string>
  /** The groups that calls with the group `auto` try, in this order. */
  readonly autoGroups: readonly string[]
  /** The fallback models that are tried if a model fails, by the name of the failed model. */
  readonly modelFallbacks: ReadonlyMap<string, readonly string[]>
  readonly quotaDisplay: QuotaDisplay
  readonly screening: Screening
  readonly tasks: TaskOptions
  /**
   * The maximum total size, in bytes, of a user's files at providers. Null if there is no limit.
   */
  readonly fileBytesMax: number | null
  readonly userRate: {
    readonly isEnabled: boolean
    readonly count: number
    readonly success: number
    readonly periodMs: number
    /** The maximum number of tokens per user and minute. 0 sets no limit. */
    readonly tokensPerMinute: number
    readonly exemptGroup: string | null
    /**
     * The limits on calls in a group, by the group's name. These limits replace `count`, `success`
     * and `tokensPerMinute`.
     */
    readonly byGroup: ReadonlyMap<string, NamedLimits>
    /** The limits on each user's calls of a model, by the model's name. */
    readonly byModel: ReadonlyMap<string, NamedLimits>
  }
}

/** The limits on calls in a group or of a model. An absent limit or 0 sets no limit. */
type NamedLimits = {
  readonly calls?: number
  readonly successes?: number
  readonly tokensPerMinute?: number
  readonly concurrency?: number
}

/** The settings for the answers to chat clients that ask for the quota of their key. */
export type QuotaDisplay = {
  readonly isInDollars: boolean
  readonly quotaPerDollar: number
  /** True if the answer states the quota of the token. False if it states the quota of the user. */
  readonly isOfToken: boolean
}

export type TaskOptions = {
  readonly isDrawingOn: boolean
  readonly isMusicOn: boolean
  /** True if providers are asked to send callbacks. */
  readonly isNotified: boolean
  readonly isAccountFilterAllowed: boolean
  /** True if callers receive addresses of this site for pictures and videos. */
  readonly isForwarded: boolean
  readonly isModeCleared: boolean
  readonly isSuccessChecked: boolean
  readonly openMax: number
  /** The public address of this site without a trailing slash; empty if none is configured. */
  readonly serverAddress: string
}

const RETRIES_MAX = 3
/** The unit of the options about file sizes, in bytes. */
export const GIGABYTE = 1_000_000_000

/** Stores the current price list and options. Both are rebuilt when an option changes. */
export class OptionView {
  prices: PriceList
  options: RelayOptions
  private readonly values: Map<string, string>
  private readonly readScreening = screeningReader()

  constructor(values: ReadonlyMap<string, string>, revision: number) {
    this.values = new Map(values)
    this.prices = readPriceList(this.values, revision)
    this.options = this.read()
  }

  apply(event: Recorded<OptionsEvent>): void {
    if (event.type !== 'OptionSet') return
    this.values.set(event.data.key, event.data.value)
    this.prices = readPriceList(this.values, event.revision)
    this.options = this.read()
  }

  private read(): RelayOptions {
    return { ...readOptions(this.values), screening: this.readScreening(this.values) }
  }
}

function readOptions(values: ReadonlyMap<string, string>): Omit<RelayOptions, 'screening'> {
  const flag = (key: string): boolean => optionFlag(values, key)
  const integer = (key: string): number => optionInteger(values, key)
  return {
    retryTimes: Math.min(RETRIES_MAX, Math.max(0, integer('RetryTimes'))),
    sessionIdleMs: flag('session_affinity.enabled')
      ? Math.max(1, integer('session_affinity.idle_minutes')) * 60_000
      : null,
    outputCaps: readOutputCaps(optionValue(values, OUTPUT_CAPS_KEY)),
    defaultOutputCap: Math.max(1, integer(DEFAULT_OUTPUT_CAP_KEY)),
    messagesOutputDefaults: new Map(
      Object.entries(objectOf(optionJson(values, 'claude.default_max_tokens'))),
    ),
    adapters: readAdapterOptions(values),
    preConsumedQuota: BigInt(Math.max(0, integer('PreConsumedQuota'))),
    isUpstreamErrorHidden: flag('global.hide_upstream_error_enabled'),
    isPassThrough: flag('global.pass_through_request_enabled'),
    isBrowserExtensionBlocked: flag('global.block_browser_extension_enabled'),
    storesConvertedResponses: flag('StoreConvertedResponsesEnabled'),
    health: readHealthOptions(values),
    pingIntervalMs: flag('general_setting.ping_interval_enabled')
      ? Math.max(1, integer('general_setting.ping_interval_seconds')) * 1_000
      : null,
    yuanPerDollar: optionValue(values, 'Price'),
    usableGroups: new Set(Object.keys(objectOf(optionJson(values, 'UserUsableGroups')))),
    autoGroups: [...new Set(textsOf(optionJson(values, 'AutoGroups')))],
    modelFallbacks: new Map(
      Object.entries(objectOf(optionJson(values, 'ModelFallbacks'))).map(([name, models]) => [
        name,
        textsOf(models),
      ]),
    ),
    quotaDisplay: {
      isInDollars: flag('DisplayInCurrencyEnabled'),
      quotaPerDollar: Math.max(1, Number(optionValue(values, 'QuotaPerUnit'))),
      isOfToken: flag('DisplayTokenStatEnabled'),
    },
    tasks: readTaskOptions(values),
    fileBytesMax: integer('BatchFilesGigabytesPerUser') * GIGABYTE || null,
    userRate: {
      isEnabled: flag('ModelRequestRateLimitEnabled'),
      count: Math.max(0, integer('ModelRequestRateLimitCount')),
      success: Math.max(0, integer('ModelRequestRateLimitSuccessCount')),
      periodMs: Math.max(1, integer('ModelRequestRateLimitDurationMinutes')) * 60_000,
      tokensPerMinute: Math.max(0, integer('ModelRequestRateLimitTokensPerMinute')),
      exemptGroup: flag('global.rate_limit_exempt_enabled')
        ? optionValue(values, 'global.rate_limit_exempt_group')
        : null,
      byGroup: new Map(Object.entries(objectOf(optionJson(values, 'RateLimitsByGroup')))),
      byModel: new Map(Object.entries(objectOf(optionJson(values, 'RateLimitsByModel')))),
    },
  }
}

function readTaskOptions(values: ReadonlyMap<string, string>): TaskOptions {
  const flag = (key: string): boolean => optionFlag(values, key)
  return {
    isDrawingOn: flag('DrawingEnabled'),
    isMusicOn: flag('TaskEnabled'),
    isNotified: flag('MjNotifyEnabled'),
    isAccountFilterAllowed: flag('MjAccountFilterEnabled'),
    isForwarded: flag('MjForwardUrlEnabled'),
    isModeCleared: flag('MjModeClearEnabled'),
    isSuccessChecked: flag('MjActionCheckSuccessEnabled'),
    openMax: Math.max(1, optionInteger(values, 'OpenTasksMax')),
    serverAddress: optionValue(values, 'ServerAddress').replace(/\/+$/, ''),
  }
}

const objectOf = (value: unknown): object =>
  typeof value === 'object' && value !== null ? value : {}

const textsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value : [])
