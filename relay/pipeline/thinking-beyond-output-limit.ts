import {
  channelsIn,
  type Offer,
  oncePerOffer,
} from '#domain/routing/channels-by-group-and-model.ts'
import { parsedObject } from '#relay/canonical/json-values.ts'
import type { AdapterOptions } from '../adapters/read-claude-and-gemini-options.ts'
import { modelAndSuffixAtChannel } from '../adapters/resolve-model-suffix.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { formatFor } from '../dialects/choose-provider-format.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import type { RelayChannel } from '../views/channel-view.ts'
import { channelsWithDistinctRequests } from './channels-with-distinct-requests.ts'
import type { VariantBounds } from './compute-hold-and-output-limit.ts'
import { withFittingBudget } from './fit-anthropic-thinking-budget.ts'

/** The members to set in a request, as JSON texts by name. */
type Overrides = ReadonlyMap<string, string>

const FORMATS: ReadonlySet<string> = new Set(['chat', 'responses', 'messages', 'gemini'])
/** Matches the models that think unless a request turns thinking off. */
const THINKS =
  /qwq|qvq|think|(?:^|[-/])(?:r1|ring-|step-?3)|qwenlong-l1|qwen3\.[5-9]|qwen[4-9]|qwen3-(?:next-)?\d+(?:\.\d+)?b(?!.*instruct)|glm-?(?:z1|4\.[5-9]|[5-9])|minimax-m|hunyuan-a13b|kimi-k(?:2\.[5-9]|[3-9])|deepseek-v(?:3\.[1-9]|[4-9])|gpt-oss/i
/** Matches the models whose thinking can't be turned off. */
const ALWAYS_THINKS =
  /qwq|qvq|think|(?:^|[-/])(?:r1|ring-|step-?3)|qwenlong-l1|glm-?z1|minimax-m|gpt-oss/i
/** Matches the models whose thinking ends at `thinking_budget`. */
const OBEYS_BUDGET = /(?<!distill-)qwen|qwq|qvq/i
const ENABLED = 'enable_thinking'
const BUDGET = 'thinking_budget'
/**
 * The members of a request that may turn thinking on. A reasoning effort is not among them, because
 * the providers of models that think do not read it.
 */
const PROVIDER_THINKING_MEMBERS: readonly string[] = [
  ...[ENABLED, BUDGET, 'thinking', 'chat_template_kwargs', 'extra_body'],
]
/** The values with which a member in `PROVIDER_THINKING_MEMBERS` does not turn thinking on. */
const PROVIDER_OFF_VALUES: ReadonlySet<string> = new Set(['false', '{"type":"disabled"}', 'null'])
const VALUE_BYTES_MAX = 64
const LIMITS: readonly string[] = ['max_tokens', 'max_completion_tokens']

const NO_OVERRIDES: Overrides = new Map()

type RequestMembers = Pick<ChatRequest, 'format' | 'body' | 'members'>

/**
 * Returns the maximum number of thinking tokens that a model may generate in addition to the output
 * limit of a request. Returns 0 if the provider counts thinking towards the limit, or if the model
 * does not think for this request. `model` is the provider's name for the model.
 */
function thinkingBeyondLimit(
  { target }: Pick<RelayChannel, 'target'>,
  request: RequestMembers,
  model: string,
  overrides: Overrides,
): number {
  const most = target?.profile?.thinkingBeyondLimit
  if (most === undefined || !FORMATS.has(request.format.name)) return 0
  const textOf = (name: string) => overrides.get(name) ?? valueIn(request, name)
  const thinkingMembers = PROVIDER_THINKING_MEMBERS.filter(
    (name) => !PROVIDER_OFF_VALUES.has(textOf(name) ?? 'null'),
  )
  if (isOff(request.format.name, textOf) && thinkingMembers.every((name) => name === BUDGET)) {
    return ALWAYS_THINKS.test(model) ? most : 0
  }
  const budget = Number(textOf(BUDGET) ?? Number.NaN)
  // The meaning of a budget of 0 differs between models, so the hold does not rely on it.
  if (Number.isInteger(budget) && budget > 0 && OBEYS_BUDGET.test(model)) {
    return Math.min(budget, most)
  }
  const isThinkingRequested = thinkingMembers.length > 0
  return THINKS.test(model) || isThinkingRequested ? most : 0
}

/**
 * Reports whether a request turns thinking off by the member that the provider reads. Each format
 * has one such member. Any other member must not reduce the hold, because the provider ignores it.
 */
const isOff = (format: string, textOf: (name: string) => string | undefined): boolean =>
  format === 'messages' ? textOf('thinking') === '{"type":"disabled"}' : textOf(ENABLED) === 'false'

/**
 * Returns the JSON text of a member's value without spaces; undefined if the request lacks the
 * member. For a long value, `…` is returned.
 */
function valueIn({ body, members }: RequestMembers, name: string): string | undefined {
  const member = members.find(({ key }) => key === name)
  return member === undefined ? undefined : shortValue(body, member)
}

type Value = Pick<ChatRequest['members'][number], 'valueStart' | 'valueEnd'>

function shortValue(body: Buffer, { valueStart, valueEnd }: Value): string {
  const isShort = valueEnd - valueStart <= VALUE_BYTES_MAX
  return isShort ? body.toString('latin1', valueStart, valueEnd).replaceAll(/\s/g, '') : '…'
}

/**
 * Returns the channels whose provider does not count thinking towards the output limit. Of several
 * channels that would send the same request, only the first is returned.
 */
const channelsThatThinkBeyondLimit = oncePerOffer(
  (offer: Offer<RelayChannel>): readonly RelayChannel[] => {
    const thinks = ({ target }: RelayChannel) => target?.profile?.thinkingBeyondLimit !== undefined
    return channelsIn(offer).some(thinks) ? channelsWithDistinctRequests(offer).filter(thinks) : []
  },
)

/**
 * Returns the bounds of a request for channels whose provider does not count thinking towards the
 * output limit. A caller with a low limit would otherwise get long thinking for a small hold.
 */
export function boundsWithThinking(
  request: ChatRequest,
  offer: Offer<RelayChannel>,
  adapters: AdapterOptions,
  isOverridden: boolean,
): readonly VariantBounds[] {
  let bounds: VariantBounds | null = null
  for (const channel of channelsThatThinkBeyondLimit(offer)) {
    if (channel.target?.profile.thinkingBeyondLimit === undefined) continue
    const overrides = isOverridden ? channel.rules.overrides : NO_OVERRIDES
    const { model, suffix } = modelAndSuffixAtChannel(channel, request, adapters)
    const { name: format } = formatFor(channel, request.format, model)
    const isConverted = format !== request.format.name
    // The relay may turn thinking on later, if it converts the request or because the model's name
    // has a suffix. The hold then covers all thinking, because the relay may change the budget.
    const { thinkingSwitch, thinkingBeyondLimit: most } = channel.target.profile
    const isThinkingRequested =
      thinkingSwitch?.models.test(model) === true &&
      (request.isStream || thinkingSwitch.isOnlyForStreams !== true) &&
      ((suffix !== null && suffix.thinking.kind !== 'off') || (isConverted && asksToThink(request)))
    const asked = isConverted ? { ...request, members: [] } : request
    const tokens = isThinkingRequested
      ? most
      : thinkingBeyondLimit(channel, asked, model, overrides)
    if (tokens === 0) continue
    const isObeyed = OBEYS_BUDGET.test(model) && format === 'chat'
    bounds = larger(bounds, {
      ...{ choices: request.choices, inputBound: request.inputBound },
      outputTokensMax: overriddenLimit(overrides) ?? request.outputTokensMax,
      thinkingTokens: tokens,
      ...(isObeyed ? {} : { isUnlimited: true }),
    })
  }
  return bounds === null ? [] : [bounds]
}

/** The members with which the formats of callers control thinking. */
const CALLER_THINKING_MEMBERS: ReadonlySet<string> = new Set([
  ...[ENABLED, BUDGET, 'thinking', 'reasoning', 'reasoning_effort', 'output_config'],
])
const CONFIGS: ReadonlySet<string> = new Set(['generationConfig', 'generation_config'])
/** The values with which a member in `CALLER_THINKING_MEMBERS` does not turn thinking on. */
const CALLER_OFF_VALUES: ReadonlySet<string> = new Set([
  ...PROVIDER_OFF_VALUES,
  '"none"',
  '{"effort":"none"}',
])
const CONFIG_BYTES_MAX = 64 * 1024
/** The settings of Gemini's format that turn thinking off. */
const GEMINI_OFF: ReadonlySet<string> = new Set(['{"thinkingBudget":0}', '{"thinking_budget":0}'])
/** The values of `extra_body` that do not turn thinking on. It may contain Gemini's control. */
const EXTRA_OFF_VALUES: ReadonlySet<string> = new Set([
  ...['null', '{}'],
  ...['thinking_config', 'thinkingConfig'].flatMap((name) =>
    [...GEMINI_OFF].map((off) => `{"google":{"${name}":${off}}}`),
  ),
])

/** Reports whether a request in any caller's format may turn thinking on. */
export const asksToThink = ({ body, members }: Pick<RequestMembers, 'body' | 'members'>): boolean =>
  members.some((member) => {
    if (CALLER_THINKING_MEMBERS.has(member.key))
      return !CALLER_OFF_VALUES.has(shortValue(body, member))
    if (member.key === 'extra_body') return !EXTRA_OFF_VALUES.has(shortValue(body, member))
    return CONFIGS.has(member.key) && isThinkingConfigured(body, member)
  })

/** Reports whether a request in any format turns thinking off. */
export const turnsThinkingOff = ({
  body,
  members,
}: Pick<RequestMembers, 'body' | 'members'>): boolean =>
  members.some((member) => {
    if (!CONFIGS.has(member.key)) {
      const value = CALLER_THINKING_MEMBERS.has(member.key) ? shortValue(body, member) : 'null'
      return value !== 'null' && CALLER_OFF_VALUES.has(value)
    }
    return thinkingConfigs(body, member).some((thinking) => GEMINI_OFF.has(thinking))
  })

const isThinkingConfigured = (body: Buffer, value: Value): boolean =>
  value.valueEnd - value.valueStart > CONFIG_BYTES_MAX ||
  thinkingConfigs(body, value).some((thinking) => !GEMINI_OFF.has(thinking))

/**
 * Returns the JSON texts of the thinking settings in a member of `CONFIGS`. A long member counts as
 * one without such settings.
 */
function thinkingConfigs(body: Buffer, { valueStart, valueEnd }: Value): readonly string[] {
  if (valueEnd - valueStart > CONFIG_BYTES_MAX) return []
  const config = parsedObject(body.toString('utf8', valueStart, valueEnd))
  const stated = [config?.thinkingConfig, config?.thinking_config].filter(Boolean)
  return stated.map((thinking) => JSON.stringify(thinking))
}

function larger(one: VariantBounds | null, other: VariantBounds): VariantBounds {
  if (one === null) return other
  const limits = [one.outputTokensMax, other.outputTokensMax]
  const isUnlimited = one.isUnlimited === true || other.isUnlimited === true
  return {
    ...other,
    outputTokensMax: limits.includes(null) ? null : Math.max(...limits.map(Number)),
    thinkingTokens: Math.max(one.thinkingTokens ?? 0, other.thinkingTokens ?? 0),
    ...(isUnlimited ? { isUnlimited } : {}),
  }
}

/** Returns the output limit that an admin's override sets; null if it sets none. */
function overriddenLimit(overrides: Overrides): number | null {
  const limits = LIMITS.map((name) => Number(overrides.get(name) ?? 0))
  const most = Math.max(...limits)
  return most > 0 ? most : null
}

type FittedLimit = {
  /** The output limit to send; null keeps the request's own limit. */
  readonly outputTokens: number | null
  readonly overrides: Overrides
  readonly losses: readonly string[]
}

/**
 * Fits the thinking budget to the output limit. If the hold covers only `covered` output tokens and
 * the provider of a chat does not count thinking towards the limit, these tokens are divided
 * between thinking and answer. The answer gets half of the tokens, or its own limit if this is
 * lower. Thinking gets the rest, up to the most that the model may think for the request. Tokens
 * above this maximum go to the answer. If the rest is below the smallest budget of the provider,
 * thinking gets this smallest budget. In Anthropic's format, the budget must be below the limit.
 * Returns an error if the quota pays for no output.
 */
export function fitThinkingBudgetAndLimit(
  channel: RelayChannel,
  request: ChatRequest,
  model: string,
  adapted: Overrides,
  { covered, outputTokens }: { readonly covered: number | null; outputTokens: number | null },
): FittedLimit | RelayError {
  const thinking = covered === null ? 0 : thinkingBeyondLimit(channel, request, model, adapted)
  if (covered === null || thinking === 0 || request.format.name !== 'chat') {
    const overrides = withFittingBudget(request, adapted, outputTokens)
    if (isRelayError(overrides)) return overrides
    return { outputTokens, overrides, losses: overrides === adapted ? [] : [ANTHROPIC_BUDGET] }
  }
  const own = overriddenLimit(adapted) ?? request.outputTokensMax ?? covered
  const answer = Math.min(own, Math.ceil(covered / 2))
  // A caller's budget below the provider's minimum is not raised. The provider then refuses the
  // budget.
  const least = Math.min(thinking, channel.target?.profile?.thinkingBudgetMin ?? 1)
  // Without a budget, thinking could exceed what the hold covers.
  if (covered <= least) return relayError('insufficient_quota')
  const budget = Math.max(least, Math.min(thinking, covered - answer))
  return {
    outputTokens: covered - budget,
    overrides: new Map([...adapted, [BUDGET, `${budget}`]]),
    losses: budget < thinking ? [BUDGET] : [],
  }
}

const ANTHROPIC_BUDGET = 'thinking.budget_tokens'
