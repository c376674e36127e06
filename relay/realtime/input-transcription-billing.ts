import { holdFor } from '#domain/pricing/hold-amount.ts'
import { NO_USAGE, type Usage } from '#domain/pricing/usage.ts'
import { isObject } from '#relay/canonical/json-values.ts'
import { estimateTokens } from '../canonical/answer-text-for-token-count.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { isLimitError } from '../pipeline/acquire-call-permit.ts'
import { type AwaitedItem, AwaitedTranscriptions, isId, NO_TEXT } from './awaited-transcriptions.ts'
import { type CallContext, SESSION_ENDED, SessionCall } from './call-of-session.ts'
import { ChargesInProgress } from './charges-in-progress.ts'
import type { CommittedAudio, InputAudio } from './input-audio.ts'
import { priceFor } from './plan-and-connect-session.ts'
import type { ServerEvent } from './read-and-redact-provider-event.ts'
import {
  BYTES_PER_SECOND,
  billedUsage,
  inputAudioTokens,
  readTranscriptionUsage,
} from './realtime-usage.ts'
import type { SettingsInForce, SettingsPosition, TranscriptionTerms } from './settings-in-force.ts'

/** The number of input tokens that are reserved in addition to the audio and the prompts. */
const MARGIN_TOKENS = 1_024
/** The maximum number of items expected from uncommitted audio: one for each second of it. */
const TURNS_AT_ONCE = 60
const BYTES_PER_TOKEN = 4

const textTokensOf = (item: AwaitedItem): number => Math.max(item.textTokens, item.segmentTokens)
type Completion = { readonly isShown: boolean; readonly error: RelayError | null }

/**
 * Bills the transcriptions of a session's input audio. Each transcription is charged as a separate
 * call, because it has another model than the session and a separate usage report. At the end, the
 * missing ones of each model are charged as one call. While audio may be transcribed, one call is
 * open whose reserved quota covers that audio.
 */
export class InputTranscriptionBilling {
  private call: SessionCall | null = null
  private readonly awaited = new AwaitedTranscriptions()
  /** The position up to which transcriptions without an id were charged before their commits. */
  private chargedUpTo = -1
  /** The number of transcriptions without an id that were charged and still lack their commits. */
  private chargedAhead = 0
  /** Resolves when no call is being admitted and no hold is being raised. */
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
   * Returns the error for the caller, or null. Another model or null is refused while the previous
   * model may still transcribe audio that was sent, because models have different prices. This
   * includes audio for which no event of the provider has arrived yet.
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
   * Reserves quota for all audio. Events of the caller and of the provider that need this at the
   * same time wait for each other, because each would otherwise admit a call.
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

  /** Reserves quota for all audio by the most expensive terms that may apply to the audio. */
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

  /** The items whose transcriptions have not arrived, including those of unconfirmed commits. */
  private get items(): readonly AwaitedItem[] {
    const termsByPosition = new Map<SettingsPosition, TranscriptionTerms | null>()
    const ofCommits = this.audio.commitsAfter(this.chargedUpTo).flatMap(({ bytes, position }) => {
      const cachedTerms = termsByPosition.get(position)
      const terms =
        cachedTerms === undefined ? this.settings.at(position).transcription : cachedTerms
      termsByPosition.set(position, terms)
      return terms === null ? [] : [{ bytes, ...NO_TEXT, terms }]
    })
    return [...this.awaited.all, ...ofCommits]
  }

  /** The number of tokens of all audio that may be transcribed. */
  private get audioTokens(): number {
    const ofItems = this.awaited.all.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0)
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
  ): Promise<SessionCall | RelayError> {
    const { name: model } = terms
    const { deps, caller } = this.context
    // Prices may have changed since the settings were sent.
    const current = priceFor(deps.views, caller, model)
    const price = 'code' in current ? terms.price : current
    const inputTokens = this.tokensToCover(terms)
    return SessionCall.admit(this.context, {
      ...{ model, upstreamModel: null, price, isReducible: false },
      ...{ inputTokens, outputTokens: this.outputTokens, isLimited, isOwed },
    })
  }

  /**
   * Takes the open call for audio that the provider has already transcribed. If none with this
   * model is open, admits one. The call is charged regardless of all limits, and even if the caller
   * has lost access or can't pay for a hold.
   */
  private async takeOwed(terms: TranscriptionTerms): Promise<SessionCall | RelayError> {
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
   * Takes a call in order to charge this item. If the provider has more committed audio, another
   * call is admitted for that audio if possible, so that quota stays reserved.
   */
  private takeCall(
    key: string | undefined,
    terms: TranscriptionTerms,
  ): Promise<SessionCall | RelayError> {
    return this.exclusively(async () => {
      if (this.isEnded) return SESSION_ENDED
      const call = await this.takeOwed(terms)
      if (isRelayError(call)) return call
      if (key !== undefined) this.awaited.delete(key)
      const next = this.call === null && this.items.length > 0 ? this.dearest([]) : null
      const admitted = next === null ? null : await this.admit(next, true)
      if (admitted !== null && !isRelayError(admitted)) this.call = admitted
      return call
    })
  }

  /**
   * Notes that audio has become an item. The provider transcribes the item with the settings that
   * apply when the provider handles the commit. Returns null, or the error with which the session
   * must end if too many transcriptions have not arrived.
   */
  noteCommitted(itemId: unknown, { bytes, position }: CommittedAudio): RelayError | null {
    const { settings, audio, awaited } = this
    // Audio that was charged with an earlier turn is charged again only if a usage report says so.
    const own = audio.consumed <= this.chargedUpTo ? 0 : bytes
    if (own > 0) this.chargedAhead = 0
    // The transcription of this audio has arrived without an id before the commit.
    if (bytes > 0 && this.chargedAhead > 0) {
      this.chargedAhead -= 1
      awaited.noteEnded(itemId)
      return null
    }
    const { transcription: terms } = position === null ? settings.confirmed : settings.at(position)
    return terms === null ? null : awaited.add(itemId, { bytes: own, ...NO_TEXT, terms })
  }

  /**
   * Counts a piece of a transcription that is sent to the caller: a delta, or a segment of a model
   * that tells speakers apart. Such a piece can arrive before the commit of its item. Returns the
   * error with which the session must end, for example if the text is much longer than the audio.
   */
  noteText(event: ServerEvent): RelayError | null {
    const { awaited } = this
    const tokens = awaited.all.reduce((sum, item) => sum + textTokensOf(item), 0)
    if (this.call?.isOverLimit(tokens) === true) return relayError('output_limit_ignored')
    const terms = this.settings.confirmed.transcription
    const isNew = awaited.keyOf(event.item_id) === undefined && terms !== null
    const isOfAudio = isId(event.item_id) || this.unchargedBytes > 0
    const error =
      isNew && isOfAudio ? awaited.add(event.item_id, { bytes: null, ...NO_TEXT, terms }) : null
    awaited.addText(event)
    return error
  }

  /** Removes an item whose transcription failed. A failed transcription is not charged. */
  noteFailed(itemId: unknown): void {
    const key = this.awaited.keyOf(itemId)
    if (key !== undefined) this.awaited.delete(key)
    this.awaited.noteEnded(itemId, key)
  }

  /** The position at which the audio begins that is neither part of an item nor charged. */
  private get uncharged(): number {
    return Math.max(this.audio.consumed, this.chargedUpTo)
  }

  /** The number of bytes from the position `uncharged` to the end of the next item. */
  private get unchargedBytes(): number {
    return this.audio.endOfNextItem(this.uncharged) - this.uncharged
  }

  /**
   * Returns the item of a transcription, or null if it belongs to none. A transcription with an
   * unknown id is charged although the gateway has not seen the commit. Without an id and a
   * committed item, it is charged only if audio is uncharged, and otherwise repeats an earlier one.
   */
  private itemOf(key: string | undefined, itemId: unknown): AwaitedItem | null {
    const { confirmed, latest } = this.settings
    const terms = confirmed.transcription ?? latest.transcription ?? this.awaited.lastTerms
    const unseen = terms === null ? null : { bytes: null, ...NO_TEXT, terms }
    const item = (key === undefined ? undefined : this.awaited.get(key)) ?? unseen
    if (item === null || item.bytes !== null || isId(itemId)) return item
    const bytes = this.unchargedBytes
    return bytes > 0 ? { ...item, bytes } : null
  }

  /**
   * Charges the transcription of an item once, even if the gateway has not seen its commit. If the
   * provider already has more audio, opens the next call for that audio. Returns `isShown`, which
   * is false if it has no item or could not be charged, and the error with which the session must
   * end, or null. An exceeded limit of calls does not end the session. The caller gets this error
   * when it sends more audio.
   */
  async noteCompleted(event: ServerEvent): Promise<Completion> {
    const { awaited } = this
    const { item_id: id } = event
    if (awaited.hasEnded(id)) return { isShown: true, error: null }
    const key = awaited.keyOf(id)
    const item = this.itemOf(key, id)
    if (item === null) return { isShown: false, error: null }
    const isCommitted = key !== undefined && awaited.get(key)?.bytes !== null
    const call = await this.takeCall(key, item.terms)
    // When the session ends, the gateway tries once more to charge this audio.
    if (isRelayError(call)) return { isShown: false, error: call }
    if (!isId(id) && !isCommitted) {
      this.chargedUpTo = this.audio.endOfNextItem(this.uncharged)
      this.chargedAhead += 1
    }
    awaited.noteEnded(id, key)
    const isShown = await call.endAfter(() => this.charge(call, item, event))
    if (!isShown) return { isShown, error: relayError('store_unavailable', { retryAfter: 5 }) }
    if (this.items.length === 0 && this.audio.pending === 0) return { isShown, error: null }
    const error = await this.coverAll()
    return { isShown, error: error !== null && isLimitError(error) ? null : error }
  }

  private charge(call: SessionCall, item: AwaitedItem, event: ServerEvent): Promise<boolean> {
    const { usage: raw, transcript } = event
    const bounds = { inputCeiling: call.inputCeiling, outputCeiling: call.outputTokens * 2 }
    const report = readTranscriptionUsage(raw, bounds, call.onUnreadable)
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

  /** Returns the error that ends the session if the caller has lost access, and otherwise null. */
  accessError(): RelayError | null {
    return this.call?.access() ?? null
  }

  /**
   * Ends the open call when the session ends. Missing transcriptions of committed audio and those
   * that have begun are charged by the gateway's own count of audio and of delivered text.
   */
  async end(endReason?: RelayError['code']): Promise<void> {
    this.isEnded = true
    // A call that is being admitted is ended as well, because its hold would otherwise remain.
    await this.covered
    await this.charges.allWritten()
    const owed = Map.groupBy(this.items, ({ terms }) => terms.name)
    for (const items of owed.values()) {
      const [{ terms } = { terms: null }] = items
      const call = terms === null ? null : await this.takeOwed(terms)
      if (call === null || isRelayError(call)) continue
      const bill = billedUsage(null, this.usageOf(items), call.price, false)
      await call.settle(bill, 'client-gone', { endReason })
    }
    // A transcription that arrives later is not charged again.
    this.awaited.clear()
    this.audio.clear()
    await this.call?.release('client-gone', 'client_gone')
    this.call = null
  }

  /** True while a transcription has begun or its audio is committed, and it is not complete. */
  get isExpecting(): boolean {
    return this.items.length > 0
  }

  /**
   * Returns the gateway's own count for the items. If one of them is not committed, all uncommitted
   * audio is counted as well.
   */
  private usageOf(items: readonly AwaitedItem[]): Usage {
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
