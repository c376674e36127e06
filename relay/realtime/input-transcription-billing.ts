import { holdFor } from '#domain/pricing/hold-amount.ts'
import { NO_USAGE, type Usage } from '#domain/pricing/usage.ts'
import { estimateTokens } from '../canonical/answer-text-for-token-count.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { isLimitError } from '../pipeline/acquire-call-permit.ts'
import { ChargesInProgress } from './charges-in-progress.ts'
import type { Committed, InputAudio } from './input-audio.ts'
import { LatestIds } from './latest-ids.ts'
import { priceFor } from './open-upstream.ts'
import type { ServerEvent } from './read-and-redact-provider-event.ts'
import { type CallContext, RealtimeCall, SESSION_ENDED } from './realtime-call.ts'
import {
  BYTES_PER_SECOND,
  billedUsage,
  inputAudioTokens,
  readTranscriptionUsage,
} from './realtime-usage.ts'
import type { Position, SettingsInForce, TranscriptionTerms } from './settings-in-force.ts'
import { isObject } from './size-of-conversation-items.ts'

/** The number of input tokens that are reserved in addition to the audio and the prompts. */
const MARGIN_TOKENS = 1_024
/** The maximum number of items of a session whose transcriptions have not arrived. */
const ITEMS_MAX = 1_000
/**
 * The audio that is not committed may become several items, of which each has at least a second of
 * speech and silence. No more than this number is expected at once.
 */
const TURNS_AT_ONCE = 60
const BYTES_PER_TOKEN = 4

/**
 * An item whose transcription has not arrived: the bytes of its audio as PCM of 24 kHz, the
 * estimated number of tokens of the text that the caller has already received, and the terms with
 * which it is transcribed. `bytes` is null if the item is not yet committed.
 */
type Item = {
  readonly bytes: number | null
  textTokens: number
  /** The same text may also arrive in segments. */
  segmentTokens: number
  readonly terms: TranscriptionTerms
}
const NO_TEXT = { textTokens: 0, segmentTokens: 0 }
const textTokensOf = (item: Item): number => Math.max(item.textTokens, item.segmentTokens)
type Completion = { readonly isShown: boolean; readonly error: RelayError | null }

/**
 * Bills the transcriptions of a session's input audio. Each transcription is charged as a separate
 * call, because it has another model than the session and a separate usage report. While audio may
 * be transcribed, one call is open whose reserved quota covers that audio.
 */
export class InputTranscriptionBilling {
  private call: RealtimeCall | null = null
  /** The items whose transcriptions have not arrived, by id. */
  private readonly awaited = new Map<string, Item>()
  /** The item beyond `ITEMS_MAX`, with which the session ends. Its audio is charged then. */
  private beyond: Item | null = null
  /** The ids of the latest transcriptions that were charged or have failed. */
  private readonly done = new LatestIds(ITEMS_MAX)
  /** The latest terms with which the provider has transcribed. */
  private lastTerms: TranscriptionTerms | null = null
  /** Resolves when no call is being admitted or raised. */
  private covered: Promise<unknown> = Promise.resolve()
  private readonly charges = new ChargesInProgress()
  private isEnded = false
  private readonly context: CallContext
  private readonly audio: InputAudio
  private readonly settings: SettingsInForce

  constructor(context: CallContext, audio: InputAudio, settings: SettingsInForce) {
    this.context = context
    this.audio = audio
    this.settings = settings
  }

  /**
   * Prepares a change of the terms of the next transcriptions; null turns transcription off.
   * Returns the error for the caller, or null. A change to another model is refused while the
   * previous model may still transcribe audio that was sent, because models have different prices.
   * This includes audio for which no event of the provider has arrived yet.
   */
  async change(terms: TranscriptionTerms | null): Promise<RelayError | null> {
    const earlier = this.settings.latest.transcription
    const isAwaiting = this.items.length > 0 || this.audio.pending > 0
    const isTranscribing = earlier !== null && isAwaiting
    if (isTranscribing && terms?.name !== earlier.name) {
      return relayError('invalid_parameter', { param: 'session.audio.input.transcription' })
    }
    // Audio that was sent before and is not yet part of an item is transcribed, too.
    return terms !== null && isAwaiting ? this.coverAll(terms) : null
  }

  /** Adapts the open call after the provider has confirmed or refused a change of the settings. */
  adapt(): void {
    const adapting = this.exclusively(async () => {
      if (this.call !== null && !this.isEnded) await this.coverNow(true)
    })
    // Audio that can't be covered is charged when its transcription arrives.
    adapting.catch(() => {})
  }

  /**
   * Reserves quota for the transcription of audio before the audio is sent. Opens a call if none is
   * open. Returns the error for the caller, or null.
   */
  async cover(audioBytes: number): Promise<RelayError | null> {
    this.audio.append(audioBytes)
    const error = await this.coverAll()
    // The call that covers this audio ends with the session, so the audio must not be sent.
    return error ?? (this.isEnded ? SESSION_ENDED : null)
  }

  /**
   * Covers all audio. The events of the caller and of the provider may need this at the same time,
   * and both would admit a call if one did not wait for the other.
   */
  private coverAll(next?: TranscriptionTerms): Promise<RelayError | null> {
    return this.exclusively(async () =>
      this.isEnded ? SESSION_ENDED : this.coverNow(true, next === undefined ? [] : [next]),
    )
  }

  private exclusively<T>(change: () => Promise<T>): Promise<T> {
    const changing = this.covered.then(change)
    this.covered = changing.catch(() => {})
    return changing
  }

  /** Covers all audio at the highest price of the terms with which it may be transcribed. */
  private async coverNow(
    isLimited: boolean,
    more: readonly TranscriptionTerms[] = [],
  ): Promise<RelayError | null> {
    const terms = this.dearest(more)
    const { call } = this
    if (terms !== null && call?.model === terms.name) {
      return call.cover(this.tokensToCover(terms), this.outputTokens)
    }
    const next = terms === null ? null : await this.admit(terms, isLimited)
    if (next !== null && isRelayError(next)) return next
    this.call = next
    await call?.release('refused', 'client_gone')
    return null
  }

  private dearest(more: readonly TranscriptionTerms[]): TranscriptionTerms | null {
    const ofItems = this.items.map(({ terms }) => terms)
    const all = new Set([...this.settings.transcriptions, ...ofItems, ...more])
    const holdOf = (terms: TranscriptionTerms) =>
      holdFor(terms.price, {
        ...{ inputTokens: this.tokensToCover(terms), outputTokens: this.outputTokens, choices: 1 },
      })
    return [...all].reduce<TranscriptionTerms | null>(
      (most, one) => (most !== null && holdOf(most) >= holdOf(one) ? most : one),
      null,
    )
  }

  /** The items whose transcriptions have not arrived, those of commits on their way included. */
  private get items(): readonly Item[] {
    const beyond = this.beyond === null ? [] : [this.beyond]
    const known = new Map<Position, TranscriptionTerms | null>()
    const ofCommits = this.audio.commits.flatMap(({ bytes, position }) => {
      const seen = known.get(position)
      const terms = seen === undefined ? this.settings.at(position).transcription : seen
      known.set(position, terms)
      return terms === null ? [] : [{ bytes, ...NO_TEXT, terms }]
    })
    return [...this.awaited.values(), ...beyond, ...ofCommits]
  }

  /** The number of tokens of all audio that may be transcribed. */
  private get audioTokens(): number {
    const beyond = this.beyond?.bytes ?? 0
    const ofItems = [...this.awaited.values()].reduce(
      (sum, { bytes }) => sum + (bytes ?? 0),
      beyond,
    )
    return inputAudioTokens(ofItems + this.audio.pending, BYTES_PER_SECOND.pcm)
  }

  private get outputTokens(): number {
    return this.audioTokens + MARGIN_TOKENS
  }

  private tokensToCover({ promptTokens }: TranscriptionTerms): number {
    const { pending, committed, commits } = this.audio
    const turns = Math.ceil((pending - committed) / BYTES_PER_SECOND.pcm)
    const count = this.awaited.size + commits.length + Math.min(turns, TURNS_AT_ONCE)
    return this.audioTokens + MARGIN_TOKENS + promptTokens * Math.max(1, count)
  }

  private admit(
    terms: TranscriptionTerms,
    isLimited: boolean,
    isOwed = false,
  ): Promise<RealtimeCall | RelayError> {
    const { name: model } = terms
    const { deps, caller } = this.context
    // Prices may have changed since the settings were sent.
    const current = priceFor(deps.views, caller, model)
    const price = 'code' in current ? terms.price : current
    const inputTokens = this.tokensToCover(terms)
    return RealtimeCall.admit(this.context, {
      ...{ model, upstreamModel: null, price, isReducible: false },
      ...{ inputTokens, outputTokens: this.outputTokens, isLimited, isOwed },
    })
  }

  /**
   * Takes the open call, or else admits one, for audio that the provider has already transcribed.
   * It is charged whatever limits apply, and also if the caller has lost access or can't pay for a
   * hold.
   */
  private async takeOwed(terms: TranscriptionTerms): Promise<RealtimeCall | RelayError> {
    const { call } = this
    if (call?.model === terms.name) {
      this.call = null
      return call
    }
    const covered = await this.admit(terms, false)
    if (!isRelayError(covered)) return covered
    const owed = await this.admit(terms, false, true)
    if (isRelayError(owed)) {
      const { log } = this.context.deps
      log.error({ code: owed.code }, 'transcribed audio of a realtime session is not charged')
    }
    return owed
  }

  /**
   * Takes a call in order to charge this item. If the provider has further committed audio, a call
   * for it is admitted first if possible, so that quota is reserved for it all the time.
   */
  private takeCall(itemId: string, terms: TranscriptionTerms): Promise<RealtimeCall | RelayError> {
    return this.exclusively(async () => {
      if (this.isEnded) return SESSION_ENDED
      const call = await this.takeOwed(terms)
      if (isRelayError(call)) return call
      this.awaited.delete(itemId)
      const next = this.call === null && this.items.length > 0 ? this.dearest([]) : null
      const admitted = next === null ? null : await this.admit(next, true)
      if (admitted !== null && !isRelayError(admitted)) this.call = admitted
      return call
    })
  }

  /**
   * Notes that audio has become an item. It is transcribed with the settings that are in force at
   * the provider when it handles the commit. Returns the error with which the session must end if
   * too many transcriptions have not arrived, or null. Without this limit, the list of items could
   * fill the memory, and items that are not in the list could not be charged.
   */
  noteCommitted(itemId: string, { bytes, position }: Committed): RelayError | null {
    const { settings } = this
    const { transcription: terms } = position === null ? settings.confirmed : settings.at(position)
    return terms === null ? null : this.awaitItem(itemId, { bytes, ...NO_TEXT, terms })
  }

  private awaitItem(itemId: string, item: Item): RelayError | null {
    const known = this.awaited.get(itemId)
    if (this.done.has(itemId) || (known !== undefined && known.bytes !== null)) return null
    this.lastTerms = item.terms
    if (known !== undefined || this.awaited.size < ITEMS_MAX) {
      const { bytes, terms } = item
      this.awaited.set(itemId, known === undefined ? item : { ...known, bytes, terms })
      return null
    }
    this.beyond = item
    const subject = `${ITEMS_MAX} transcriptions (this session)`
    return relayError('too_many_concurrent', { subject })
  }

  /**
   * Counts a piece of a transcription that is sent to the caller: a delta, or a segment of a model
   * that tells speakers apart. The item may not be committed yet. Returns the error with which the
   * session must end, or null.
   */
  noteText({ item_id, delta, text }: ServerEvent): RelayError | null {
    const id = String(item_id)
    const terms = this.settings.confirmed.transcription
    const isNew = !this.awaited.has(id) && terms !== null
    const error = isNew ? this.awaitItem(id, { bytes: null, ...NO_TEXT, terms }) : null
    const item = this.awaited.get(id)
    if (item !== undefined && typeof delta === 'string') item.textTokens += estimateTokens(delta)
    if (item !== undefined && typeof text === 'string') item.segmentTokens += estimateTokens(text)
    return error
  }

  /** Removes an item whose transcription failed. A failed transcription is not charged. */
  noteFailed(itemId: unknown): void {
    if (this.awaited.delete(String(itemId))) this.done.add(String(itemId))
  }

  /**
   * Charges the transcription of an item once, also if the gateway has not seen its commit. If the
   * provider already has further audio, opens the next call for it. Returns `isShown`, which is
   * false if the transcription could not be charged, and the error with which the session must end,
   * or null. A limit of calls is not such an error, because the caller gets it when it sends more
   * audio.
   */
  async noteCompleted(event: ServerEvent): Promise<Completion> {
    const id = typeof event.item_id === 'string' ? event.item_id : ''
    if (this.done.has(id)) return { isShown: true, error: null }
    const { confirmed, latest } = this.settings
    const terms = confirmed.transcription ?? latest.transcription ?? this.lastTerms
    const unseen = terms === null ? null : { bytes: null, ...NO_TEXT, terms }
    const item = this.awaited.get(id) ?? unseen
    if (item === null) return { isShown: false, error: null }
    const call = await this.takeCall(id, item.terms)
    // The end of the session tries once more to charge this audio.
    if (isRelayError(call)) return { isShown: false, error: call }
    this.done.add(id)
    const isShown = await this.charge(call, item, event)
    if (!isShown) return { isShown, error: relayError('store_unavailable', { retryAfter: 5 }) }
    if (this.items.length === 0 && this.audio.pending === 0) return { isShown, error: null }
    const error = await this.coverAll()
    return { isShown, error: error !== null && isLimitError(error) ? null : error }
  }

  private charge(call: RealtimeCall, item: Item, event: ServerEvent): Promise<boolean> {
    const { usage: raw, transcript } = event
    const bounds = { inputCeiling: call.inputCeiling, outputCeiling: call.outputTokens * 2 }
    const report = raw === undefined || raw === null ? null : readTranscriptionUsage(raw, bounds)
    call.begin()
    // A model that reports a duration has no tokens of output.
    const hasOutput = !isObject(raw) || raw.type !== 'duration'
    const ofTranscript = typeof transcript === 'string' ? estimateTokens(transcript) : 0
    const textTokens = hasOutput ? Math.max(textTokensOf(item), ofTranscript) : 0
    const counted = this.usageOf([{ ...item, textTokens, segmentTokens: 0 }])
    return this.charges.track(call.settle(billedUsage(report, counted, call.price, true), 'done'))
  }

  watch(now: number): void {
    const model = this.call?.model
    this.call?.watch(now, () =>
      this.usageOf(this.items.filter(({ terms }) => terms.name === model)),
    )
  }

  /**
   * Returns the error with which the session must end because the caller has lost access, or null.
   */
  accessError(): RelayError | null {
    return this.call?.access() ?? null
  }

  /**
   * Ends the open call when the session ends. Committed audio whose transcription has not arrived
   * is charged by the gateway's own count of its tokens and of the text that was delivered.
   */
  async end(): Promise<void> {
    this.isEnded = true
    // A call that is being admitted is ended as well, because its hold would otherwise remain.
    await this.covered
    await this.charges.allWritten()
    const owed = new Map<string, Item[]>()
    for (const item of this.items) {
      owed.set(item.terms.name, [...(owed.get(item.terms.name) ?? []), item])
    }
    for (const items of owed.values()) {
      const [{ terms } = { terms: null }] = items
      const call = terms === null ? null : await this.takeOwed(terms)
      if (call === null || isRelayError(call)) continue
      await call.settle(billedUsage(null, this.usageOf(items), call.price, false), 'client-gone')
    }
    // A transcription that arrives later is not charged again.
    this.awaited.clear()
    this.audio.clear()
    this.beyond = null
    await this.call?.release('client-gone', 'client_gone')
    this.call = null
  }

  /** True while a transcription of committed audio may arrive. */
  get isExpecting(): boolean {
    return this.items.length > 0
  }

  /** The gateway's own count. Audio that is not committed may belong to an item of its text. */
  private usageOf(items: readonly Item[]): Usage {
    const uncommitted = this.audio.pending - this.audio.committed
    const isBegun = items.some(({ bytes }) => bytes === null)
    const bytes = items.reduce((sum, item) => sum + (item.bytes ?? 0), isBegun ? uncommitted : 0)
    const prompts = items.reduce((sum, { terms }) => sum + terms.promptTokens, 0)
    return {
      ...NO_USAGE,
      inputUncached: Math.ceil(prompts / BYTES_PER_TOKEN),
      inputAudio: inputAudioTokens(bytes, BYTES_PER_SECOND.pcm),
      output: Math.ceil(items.reduce((sum, item) => sum + textTokensOf(item), 0)),
    }
  }
}
