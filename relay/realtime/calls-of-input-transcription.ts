import type { PriceSnapshot } from '#domain/pricing/price.ts'
import { NO_USAGE, type Usage } from '#domain/pricing/usage.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { isLimitError } from '../pipeline/acquire-call-permit.ts'
import { type CallContext, RealtimeCall } from './realtime-call.ts'
import { AUDIO_BYTES_PER_TOKEN, billedUsage, readTranscriptionUsage } from './realtime-usage.ts'

/** The tokens of a transcription beyond those of its audio, such as those of its prompt. */
const PROMPT_TOKENS = 1_024
const ITEMS_MAX = 1_000

type Rate = 'wide' | 'narrow'
export type TranscriptionModel = { readonly name: string; readonly price: PriceSnapshot }

/**
 * The transcription of a session's input audio. Each transcription is a call of its own, because it
 * has another model and its own usage event. A call is open while audio may be transcribed.
 */
export class InputTranscription {
  private model: TranscriptionModel | null = null
  private call: RealtimeCall | null = null
  /** The bytes of audio that are not yet part of an item of the conversation. */
  private uncommitted = 0
  /** The bytes of audio of the items whose transcriptions have not arrived, by item id. */
  private readonly awaited = new Map<string, number>()
  private readonly context: CallContext

  constructor(context: CallContext) {
    this.context = context
  }

  /**
   * Sets the model of the next transcriptions; null turns transcription off. Models have different
   * prices. A change is therefore refused while the previous model may still transcribe audio that
   * was sent. The provider may have begun to transcribe before its event arrives.
   */
  async change(model: TranscriptionModel | null, rate: Rate): Promise<RelayError | null> {
    // Without a call, audio is still transcribed if the call's limit was reached meanwhile.
    const isTranscribing = this.model !== null && (this.awaited.size > 0 || this.uncommitted > 0)
    const isOther = model?.name !== this.model?.name
    if (isOther && isTranscribing) {
      return relayError('invalid_parameter', { param: 'session.audio.input.transcription' })
    }
    if (this.call === null || !isOther) {
      this.model = model
      // Audio that was sent before is transcribed, too, if it is not yet an item.
      return this.uncommitted > 0 ? this.coverAll(rate) : null
    }
    await this.call.release('refused', 'client_gone')
    this.call = null
    this.model = model
    return this.coverAll(rate)
  }

  /** Admits or raises the call that covers audio before this audio is sent. */
  async cover(audioBytes: number, rate: Rate): Promise<RelayError | null> {
    this.uncommitted += audioBytes
    return this.coverAll(rate)
  }

  /** Subtracts audio that the hold covers but that was not sent. */
  takeBack(audioBytes: number): void {
    this.uncommitted = Math.max(0, this.uncommitted - audioBytes)
  }

  private async coverAll(rate: Rate, isLimited = true): Promise<RelayError | null> {
    const { model } = this
    if (model === null) return null
    let bytes = this.uncommitted
    for (const each of this.awaited.values()) bytes += each
    const inputTokens = tokensOf(bytes, rate) + PROMPT_TOKENS
    if (this.call !== null) return this.call.cover(inputTokens, inputTokens)
    const call = await RealtimeCall.admit(this.context, {
      ...{ model: model.name, upstreamModel: null, price: model.price, isReducible: false },
      ...{ inputTokens, outputTokens: inputTokens, isLimited },
    })
    if (isRelayError(call)) return call
    this.call = call
    return null
  }

  noteCommitted(itemId: unknown): void {
    if (this.model !== null && typeof itemId === 'string' && this.awaited.size < ITEMS_MAX) {
      // The provider may make several items of the same bytes, which then count for the first one.
      this.awaited.set(itemId, this.uncommitted)
    }
    this.uncommitted = 0
  }

  /** Removes an item whose transcription failed. A failed transcription is not charged. */
  noteFailed(itemId: unknown): void {
    this.awaited.delete(String(itemId))
  }

  /**
   * Charges the transcription of an item once. Returns an error if no further call could be
   * admitted for other audio that the provider already has.
   */
  async noteCompleted(itemId: unknown, raw: unknown, rate: Rate): Promise<RelayError | null> {
    const bytes = this.awaited.get(String(itemId))
    if (bytes === undefined) return null
    // The provider has already transcribed this audio, so it is charged whatever limits apply.
    const uncovered = this.call === null ? await this.coverAll(rate, false) : null
    const { call } = this
    if (uncovered !== null || call === null) return uncovered
    this.awaited.delete(String(itemId))
    this.call = null
    const bounds = { inputCeiling: call.inputCeiling, outputCeiling: call.outputTokens * 2 }
    const report = raw === undefined || raw === null ? null : readTranscriptionUsage(raw, bounds)
    call.begin()
    await call.settle(billedUsage(report, estimated(bytes, rate), call.price, true), 'done')
    if (this.awaited.size === 0 && this.uncommitted === 0) return null
    const error = await this.coverAll(rate)
    // The caller learns of the limit when it sends more audio.
    return error !== null && isLimitError(error) ? null : error
  }

  watch(now: number, rate: Rate): void {
    this.call?.watch(now, () => this.awaitedUsage(rate))
  }

  /** Returns the error with which the session must end, or null. */
  accessError(): RelayError | null {
    return this.call?.access() ?? null
  }

  /** Ends the call. Audio whose transcription did not arrive is charged by the gateway's count. */
  async end(rate: Rate): Promise<void> {
    // The provider has this audio, so it is charged whatever limits apply.
    if (this.call === null && this.awaited.size > 0) await this.coverAll(rate, false)
    const { call } = this
    this.call = null
    if (call === null) return
    if (this.awaited.size === 0) return call.release('client-gone', 'client_gone')
    const bill = billedUsage(null, this.awaitedUsage(rate), call.price, false)
    await call.settle(bill, 'client-gone')
  }

  private awaitedUsage(rate: Rate): Usage {
    let bytes = 0
    for (const each of this.awaited.values()) bytes += each
    return estimated(bytes, rate)
  }
}

const tokensOf = (bytes: number, rate: Rate): number =>
  Math.ceil(bytes / AUDIO_BYTES_PER_TOKEN.input[rate])

const estimated = (bytes: number, rate: Rate): Usage => ({
  ...NO_USAGE,
  inputAudio: tokensOf(bytes, rate),
})
