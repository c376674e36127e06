import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import { BYTES_PER_SECOND } from './realtime-usage.ts'

/**
 * The model that transcribes the input, and the size of the prompt that the model reads with each
 * transcription.
 */
export type TranscriptionTerms = {
  readonly name: string
  readonly price: PriceSnapshot
  /** The maximum number of tokens of the prompt and of other texts. */
  readonly promptTokens: number
}

/** Returns the rates in bytes per second that output audio may have, at least one. */
export type OutputRates = () => readonly number[]

/** The settings of a session that determine what is billed. */
export type BilledSettings = {
  /** The output limit in tokens of responses that the provider begins without a request. */
  readonly outputTokensMax: number
  /** True if the provider may begin responses without a request. */
  readonly respondsToSpeech: boolean
  /** The number of bytes per second of input audio. */
  readonly inputRate: number
  /** The number of bytes per second of output audio. */
  readonly outputRate: number
  /** The terms with which the input is transcribed; null if the input is not transcribed. */
  readonly transcription: TranscriptionTerms | null
}

/** Returns the settings without those that are undefined. An undefined setting does not change. */
export const definedSettings = (
  settings: { readonly [name in keyof BilledSettings]?: BilledSettings[name] | undefined },
): Partial<BilledSettings> =>
  Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== undefined),
  ) as Partial<BilledSettings>

/** A change of the settings that was sent to the provider. */
export type SettingsUpdate = {
  readonly eventId: string
  /** True if the gateway made the change and not the caller. */
  readonly isOwn: boolean
  /**
   * True if the gateway sets the output limit, for example because the account can't pay for more.
   */
  readonly isLowered: boolean
  readonly change: Partial<BilledSettings>
}

type SentUpdate = SettingsUpdate & { isRefused: boolean }

/**
 * The place of an event among the changes of the settings. The provider handles the event with the
 * settings in `terms` and with all changes in `sent` that it does not refuse.
 */
export type SettingsPosition = {
  readonly terms: BilledSettings
  readonly sent: readonly SentUpdate[]
}

/** The maximum number of changes that the provider has not yet confirmed or refused. */
const UPDATES_MAX = 32

/**
 * The settings of a session. Until the provider confirms or refuses a change, either the old or the
 * new settings may apply, so the more expensive ones are assumed. After a refusal, the settings are
 * as if the change had not been sent.
 */
export class SettingsInForce {
  /** The settings that the provider has confirmed. */
  confirmed: BilledSettings
  private updates: readonly SentUpdate[] = []
  private place: SettingsPosition

  constructor(outputTokensMax: number) {
    this.confirmed = {
      ...{ outputTokensMax, respondsToSpeech: true, transcription: null },
      ...{ inputRate: BYTES_PER_SECOND.pcm, outputRate: BYTES_PER_SECOND.pcm },
    }
    this.place = { terms: this.confirmed, sent: this.updates }
  }

  get isFull(): boolean {
    return this.updates.length >= UPDATES_MAX
  }

  /** The settings that will apply if the provider confirms all changes. */
  get latest(): BilledSettings {
    return this.at(this.position)
  }

  /** The position of the next event. All events between two changes have the same position. */
  get position(): SettingsPosition {
    const { terms, sent } = this.place
    if (terms !== this.confirmed || sent !== this.updates) {
      this.place = { terms: this.confirmed, sent: this.updates }
    }
    return this.place
  }

  /**
   * Returns the settings with which the provider handles an event at this position, as far as is
   * known.
   */
  at({ terms, sent }: SettingsPosition): BilledSettings {
    const changes = sent.filter(({ isRefused }) => !isRefused).map(({ change }) => change)
    return Object.assign({ ...terms }, ...changes)
  }

  /**
   * The output limit to assume: the higher one of the old and the new limit. A new limit that the
   * gateway has set (`isLowered`) replaces the earlier limits.
   */
  get outputTokensMax(): number {
    return this.updates.reduce((most, { isLowered, change: { outputTokensMax: own } }) => {
      if (own === undefined) return most
      return isLowered ? own : Math.max(most, own)
    }, this.confirmed.outputTokensMax)
  }

  get respondsToSpeech(): boolean {
    return this.possible.some(({ respondsToSpeech }) => respondsToSpeech === true)
  }

  get inputRate(): number {
    return Math.min(...this.possible.map(({ inputRate = BYTES_PER_SECOND.pcm }) => inputRate))
  }

  /**
   * Returns a function with the rates that output audio may have if a response begins now. The
   * function leaves out the rate of a change that the provider refuses later.
   */
  get outputRates(): OutputRates {
    const { confirmed, updates } = this
    return () => [
      confirmed.outputRate,
      ...updates.flatMap(({ isRefused, change: { outputRate } }) =>
        isRefused || outputRate === undefined ? [] : [outputRate],
      ),
    ]
  }

  /** All terms with which the provider may transcribe the next audio. */
  get transcriptions(): readonly TranscriptionTerms[] {
    return this.possible.flatMap(({ transcription }) => transcription ?? [])
  }

  private get possible(): readonly Partial<BilledSettings>[] {
    return [this.confirmed, ...this.updates.map(({ change }) => change)]
  }

  add(update: SettingsUpdate): void {
    this.updates = [...this.updates, { ...update, isRefused: false }]
  }

  /**
   * Notes that the provider confirmed the oldest change. Returns this change, or undefined if there
   * is none.
   */
  confirm(): SettingsUpdate | undefined {
    const [update, ...others] = this.updates
    this.updates = others
    if (update !== undefined) this.confirmed = { ...this.confirmed, ...update.change }
    return update
  }

  /** Records the settings that the provider itself has named. */
  note(named: Partial<BilledSettings>): void {
    this.confirmed = { ...this.confirmed, ...named }
  }

  /**
   * Notes that the provider refused the change with this event id. Returns the change, or undefined
   * if there is none.
   */
  refuse(eventId: unknown): SettingsUpdate | undefined {
    const refused = this.updates.find((update) => update.eventId === eventId)
    if (refused === undefined) return undefined
    refused.isRefused = true
    this.updates = this.updates.filter((update) => update !== refused)
    return refused
  }
}
