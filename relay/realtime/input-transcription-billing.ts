import type { PriceSnapshot } from '#domain/pricing/price.ts'
import { NO_USAGE, type Usage } from '#domain/pricing/usage.ts'
import { estimateTokens } from '../canonical/answer-text-for-token-count.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { isLimitError } from '../pipeline/acquire-call-permit.ts'
import { ChargesInProgress } from './charges-in-progress.ts'
import type { ServerEvent } from './read-and-redact-provider-event.ts'
import { type CallContext, RealtimeCall, SESSION_ENDED } from './realtime-call.ts'
import { billedUsage, inputAudioTokens, readTranscriptionUsage } from './realtime-usage.ts'
import { isObject } from './size-of-conversation-items.ts'

/**
 * The number of input tokens that are reserved for a transcription in addition to its audio, for
 * example for its prompt.
 */
const PROMPT_TOKENS = 1_024
/** The maximum number of items of a session whose transcriptions have not arrived. */
const ITEMS_MAX = 1_000
/** The maximum number of the caller's commits for which no item has arrived. */
const COMMITS_MAX = 1_000

/** The number of bytes of one second of input audio. */
type Rate = number
/** A commit that was sent to the provider, and the number of bytes of audio that it commits. */
type Commit = { readonly eventId: string; readonly bytes: number }
/**
 * An item whose transcription has not arrived: the number of bytes of its audio, and the estimated
 * number of tokens of the text that the caller has already received.
 */
type Item = { readonly bytes: number; textTokens: number }
type Completion = { readonly isShown: boolean; readonly error: RelayError | null }
export type TranscriptionModel = { readonly name: string; readonly price: PriceSnapshot }

/**
 * Bills the transcriptions of a session's input audio. Each transcription is charged as a separate
 * call, because it has another model than the session and a separate usage report. While audio may
 * be transcribed, one call is open whose reserved quota covers that audio.
 */
export class InputTranscriptionBilling {
  /** The model of the next transcriptions, or null if transcription is off. */
  model: TranscriptionModel | null = null
  private call: RealtimeCall | null = null
  /** The number of bytes of audio that were sent and not committed. */
  private uncommitted = 0
  /**
   * The commits of the caller for which no item has arrived, oldest first. Several may be on their
   * way, and each item must be charged for the audio of its own commit.
   */
  private readonly commits: Commit[] = []
  /** The items whose transcriptions have not arrived, by id. */
  private readonly awaited = new Map<string, Item>()
  /**
   * The number of bytes of audio in items beyond `ITEMS_MAX`. The session ends with the first such
   * item, and this audio is charged then.
   */
  private beyond = 0
  /** Resolves when no call is being admitted or raised. */
  private covered: Promise<unknown> = Promise.resolve()
  private readonly charges = new ChargesInProgress()
  private isEnded = false
  private readonly context: CallContext

  constructor(context: CallContext) {
    this.context = context
  }

  /**
   * Sets the model of the next transcriptions; null turns transcription off. Returns the error for
   * the caller, or null. A change to another model is refused while the previous model may still
   * transcribe audio that was sent, because models have different prices. This includes audio for
   * which no event of the provider has arrived yet.
   */
  async change(model: TranscriptionModel | null, rate: Rate): Promise<RelayError | null> {
    // The audio may be transcribed even if no call is open, namely if a limit of calls has
    // prevented the next call.
    const isTranscribing = this.model !== null && (this.isAwaiting || this.unassignedBytes > 0)
    const isOther = model?.name !== this.model?.name
    if (isOther && isTranscribing) {
      return relayError('invalid_parameter', { param: 'session.audio.input.transcription' })
    }
    const { model: previous } = this
    this.model = model
    const isReleased = isOther && (await this.releaseCall())
    // Audio that was sent before and is not yet part of an item is transcribed, too.
    const isCoverNeeded = this.unassignedBytes > 0 || isReleased
    const error = isCoverNeeded ? await this.coverAll(rate) : null
    // The provider does not get settings that are refused.
    if (error !== null) this.model = previous
    return error
  }

  /**
   * Sets the model again that was in force before a change to `changed`, because the provider did
   * not make this change. A later change stays.
   */
  restore(model: TranscriptionModel | null, changed: TranscriptionModel | null, rate: Rate): void {
    if (this.model !== changed || model?.name === changed?.name) return
    this.model = model
    const covering = this.exclusively(async () => {
      await this.releaseCall()
      const hasAudio = this.isAwaiting || this.unassignedBytes > 0
      if (hasAudio && !this.isEnded) await this.coverNow(rate, true)
    })
    // Audio that can't be covered is charged when its transcription arrives.
    covering.catch(() => {})
  }

  /** Ends the open call without a charge. Returns whether there was one. */
  private async releaseCall(): Promise<boolean> {
    const { call } = this
    this.call = null
    await call?.release('refused', 'client_gone')
    return call !== null
  }

  /**
   * Reserves quota for the transcription of audio before the audio is sent. Opens a call if none is
   * open. Returns the error for the caller, or null.
   */
  async cover(audioBytes: number, rate: Rate): Promise<RelayError | null> {
    this.uncommitted += audioBytes
    const error = await this.coverAll(rate)
    // The call that covers this audio ends with the session, so the audio must not be sent.
    return error ?? (this.isEnded ? SESSION_ENDED : null)
  }

  /** Notes that this number of bytes of audio was not sent after all. */
  takeBack(audioBytes: number): void {
    this.uncommitted = Math.max(0, this.uncommitted - audioBytes)
  }

  /**
   * Covers all audio. The events of the caller and of the provider may need this at the same time,
   * and both would admit a call if one did not wait for the other.
   */
  private coverAll(rate: Rate): Promise<RelayError | null> {
    return this.exclusively(async () => (this.isEnded ? SESSION_ENDED : this.coverNow(rate, true)))
  }

  private exclusively<T>(change: () => Promise<T>): Promise<T> {
    const changing = this.covered.then(change)
    this.covered = changing.catch(() => {})
    return changing
  }

  private async coverNow(rate: Rate, isLimited: boolean): Promise<RelayError | null> {
    const { model } = this
    if (model === null) return null
    const inputTokens = this.tokensToCover(rate)
    if (this.call !== null) return this.call.cover(inputTokens, inputTokens)
    const call = await this.admit(model, inputTokens, isLimited)
    if (isRelayError(call)) return call
    this.call = call
    return null
  }

  private tokensToCover(rate: Rate): number {
    return inputAudioTokens(this.uncommitted + this.committedBytes, rate) + PROMPT_TOKENS
  }

  private admit(
    { name, price }: TranscriptionModel,
    inputTokens: number,
    isLimited: boolean,
    isOwed = false,
  ): Promise<RealtimeCall | RelayError> {
    return RealtimeCall.admit(this.context, {
      ...{ model: name, upstreamModel: null, price, isReducible: false },
      ...{ inputTokens, outputTokens: inputTokens, isLimited, isOwed },
    })
  }

  /**
   * Opens a call, if none is open, for audio that the provider has already transcribed. It is
   * charged whatever limits apply, and also if the caller has lost access or can't pay for a hold.
   */
  private async openOwed(rate: Rate): Promise<RelayError | null> {
    const refused = await this.coverNow(rate, false)
    const { model } = this
    if (refused === null || this.call !== null || model === null) return null
    const call = await this.admit(model, this.tokensToCover(rate), false, true)
    if (isRelayError(call)) {
      const { log } = this.context.deps
      log.error({ code: call.code }, 'transcribed audio of a realtime session is not charged')
      return call
    }
    this.call = call
    return null
  }

  /**
   * Takes the open call in order to charge this item. If the provider has further committed audio,
   * a call for it is admitted first if possible, so that quota is reserved for it all the time.
   */
  private takeCall(itemId: string, rate: Rate): Promise<RealtimeCall | RelayError> {
    return this.exclusively(async () => {
      if (this.isEnded) return SESSION_ENDED
      const unpaid = this.call === null ? await this.openOwed(rate) : null
      const { call, model } = this
      if (call === null) return unpaid ?? SESSION_ENDED
      this.awaited.delete(itemId)
      const isNext = model !== null && this.committedBytes > 0
      const next = isNext ? await this.admit(model, this.tokensToCover(rate), true) : null
      this.call = next === null || isRelayError(next) ? null : next
      return call
    })
  }

  /** Returns the error for the caller if no further commit can be sent now, or null. */
  checkCommit(): RelayError | null {
    if (this.commits.length < COMMITS_MAX) return null
    return relayError('too_many_concurrent', { subject: `${COMMITS_MAX} commits (this session)` })
  }

  /** Notes that a commit of the caller is being sent, which commits all audio before it. */
  noteCommit(eventId: string): void {
    this.commits.push({ eventId, bytes: this.uncommitted })
    this.uncommitted = 0
  }

  /** Notes that the provider refused an event. The audio of a refused commit is not committed. */
  noteRefused(eventId: unknown): void {
    const at = this.commits.findIndex((commit) => commit.eventId === eventId)
    const [refused] = at < 0 ? [] : this.commits.splice(at, 1)
    if (refused === undefined) return
    const next = this.commits[at]
    // The provider still has this audio, so the next commit includes it.
    if (next === undefined) this.uncommitted += refused.bytes
    else this.commits[at] = { ...next, bytes: next.bytes + refused.bytes }
  }

  /**
   * Notes that audio has become an item: the audio of the caller's oldest commit, or all audio that
   * was sent if the provider committed it without a commit of the caller. Returns the error with
   * which the session must end if too many transcriptions have not arrived, or null. Without this
   * limit, the list of items could fill the memory, and items that are not in the list could not be
   * charged.
   */
  noteCommitted(itemId: unknown): RelayError | null {
    const commit = this.commits.shift()
    const bytes = commit?.bytes ?? this.uncommitted
    if (commit === undefined) this.uncommitted = 0
    if (this.model === null || typeof itemId !== 'string') return null
    if (this.awaited.size >= ITEMS_MAX) {
      this.beyond += bytes
      const subject = `${ITEMS_MAX} transcriptions (this session)`
      return relayError('too_many_concurrent', { subject })
    }
    // The provider may use the same bytes in several items. The bytes then count only for the
    // first item.
    this.awaited.set(itemId, { bytes, textTokens: 0 })
    return null
  }

  /** Counts a piece of a transcription that is sent to the caller. */
  noteDelta({ item_id, delta }: ServerEvent): void {
    const item = this.awaited.get(String(item_id))
    if (item !== undefined && typeof delta === 'string') item.textTokens += estimateTokens(delta)
  }

  /** Removes an item whose transcription failed. A failed transcription is not charged. */
  noteFailed(itemId: unknown): void {
    this.awaited.delete(String(itemId))
  }

  /**
   * Charges the transcription of an item once. If the provider already has further audio, opens the
   * next call for it. Returns `isShown`, which is false if the transcription could not be charged,
   * and the error with which the session must end, or null. A limit of calls is not such an error,
   * because the caller gets it when it sends more audio.
   */
  async noteCompleted(event: ServerEvent, rate: Rate): Promise<Completion> {
    const { usage: raw, transcript } = event
    const id = String(event.item_id)
    const item = this.awaited.get(id)
    if (item === undefined) return { isShown: true, error: null }
    const call = await this.takeCall(id, rate)
    // The end of the session tries once more to charge this audio.
    if (isRelayError(call)) return { isShown: false, error: call }
    const bounds = { inputCeiling: call.inputCeiling, outputCeiling: call.outputTokens * 2 }
    const report = raw === undefined || raw === null ? null : readTranscriptionUsage(raw, bounds)
    call.begin()
    // A model that reports a duration has no tokens of output.
    const hasOutput = !isObject(raw) || raw.type !== 'duration'
    const ofTranscript = typeof transcript === 'string' ? estimateTokens(transcript) : 0
    const textTokens = hasOutput ? Math.max(item.textTokens, ofTranscript) : 0
    const counted = estimated(item.bytes, textTokens, rate)
    const bill = billedUsage(report, counted, call.price, true)
    const isShown = await this.charges.track(call.settle(bill, 'done'))
    if (!isShown) return { isShown, error: relayError('store_unavailable', { retryAfter: 5 }) }
    if (!this.isAwaiting && this.unassignedBytes === 0) return { isShown, error: null }
    const error = await this.coverAll(rate)
    return { isShown, error: error !== null && isLimitError(error) ? null : error }
  }

  watch(now: number, rate: Rate): void {
    this.call?.watch(now, () => this.committedUsage(rate))
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
  async end(rate: Rate): Promise<void> {
    this.isEnded = true
    // A call that is being admitted is ended as well, because its hold would otherwise remain.
    await this.covered
    await this.charges.allWritten()
    const isCommitted = this.isAwaiting || this.committedBytes > 0
    if (this.call === null && isCommitted) await this.openOwed(rate)
    const { call } = this
    this.call = null
    if (call === null) return
    if (!isCommitted) return call.release('client-gone', 'client_gone')
    const bill = billedUsage(null, this.committedUsage(rate), call.price, false)
    // A transcription that arrives later is not charged again.
    this.awaited.clear()
    this.commits.length = 0
    this.beyond = 0
    await call.settle(bill, 'client-gone')
  }

  /** True while a transcription of committed audio may arrive. */
  get isExpecting(): boolean {
    return this.model !== null && (this.awaited.size > 0 || this.commits.length > 0)
  }

  private get isAwaiting(): boolean {
    return this.awaited.size > 0 || this.beyond > 0
  }

  /** The number of bytes of audio that were sent and are not yet part of an item. */
  private get unassignedBytes(): number {
    return this.commits.reduce((sum, { bytes }) => sum + bytes, this.uncommitted)
  }

  /** The number of bytes of audio that the provider transcribes or has been told to transcribe. */
  private get committedBytes(): number {
    const items = [...this.awaited.values()]
    const ofItems = items.reduce((sum, { bytes }) => sum + bytes, this.beyond)
    return this.commits.reduce((sum, { bytes }) => sum + bytes, ofItems)
  }

  private committedUsage(rate: Rate): Usage {
    const items = [...this.awaited.values()]
    const textTokens = items.reduce((sum, item) => sum + item.textTokens, 0)
    return estimated(this.committedBytes, textTokens, rate)
  }
}

const estimated = (bytes: number, textTokens: number, rate: Rate): Usage => ({
  ...NO_USAGE,
  inputAudio: inputAudioTokens(bytes, rate),
  output: Math.ceil(textTokens),
})
