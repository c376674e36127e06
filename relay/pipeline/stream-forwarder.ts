import { DeliveredText, hasText } from '#relay/canonical/answer-text-for-token-count.ts'
import type { UsageAnomaly } from '#relay/canonical/provider-usage-report.ts'
import { eventData, SseScanner, type SseSink } from '#relay/canonical/sse-scanner.ts'
import type { ConvertedStream } from '../conversion/convert-call.ts'
import { hasCounts } from '../dialects/check-successful-answer.ts'
import { withShownModel } from '../dialects/model-name-in-answer.ts'
import type { WireFormat } from '../dialects/wire-format.ts'
import type { AnswerScreen } from '../screening/word-screening.ts'
import { AnswerStart } from './answer-start.ts'
import { AnsweredModelSearch } from './answered-model-search.ts'
import type { CancellableBackgroundResponse } from './background-response-left-running.ts'
import { FinishReasonSearch } from './finish-reason-search.ts'
import { parseStreamEvent, readStreamEvent } from './parse-stream-event.ts'
import { PostDisconnectReadLimit } from './post-disconnect-read-limit.ts'
import { StreamUsage } from './stream-usage.ts'
import type { ByteSink, StreamVerdict } from './stream-verdict.ts'

/** The maximum number of events held back at the end of a stream that has no last event. */
const HELD_BACK_EVENTS_MAX = 4
const BLANK_LINE = Buffer.from('\n\n')

/**
 * Forwards one provider's stream to the caller. The response begins with the first real event, so a
 * stream that fails earlier can be retried. Usage is kept for the bill and sent only to callers
 * that requested it. The stream's end is held back until the call is settled.
 */
export class StreamForwarder implements SseSink {
  verdict: StreamVerdict = 'open'
  /** The service tier in the latest event with usage, unparsed. */
  serviceTier: unknown
  /** The error event with which the provider ended the stream, or null. */
  errorEvent: Buffer | null = null
  hasDelivered = false
  private hasReceivedEvent = false
  readonly delivered: DeliveredText
  private readonly usage: StreamUsage
  readonly start: AnswerStart
  private readonly modelSearch: AnsweredModelSearch
  private readonly scanner: SseScanner
  private readonly format: WireFormat
  private readonly sink: ByteSink
  private readonly wantsUsage: boolean
  private readonly onFirstByte: () => void
  private readonly shownModel: string | null
  private readonly converted: ConvertedStream | null
  private readonly screen: AnswerScreen | null
  private readonly onDelivered: () => void
  private heldBack: Buffer[] = []
  private readonly latest: FinishReasonSearch
  /** True if the stream would be complete if its connection closed now. */
  private isFinal = false
  private isFlowing = true
  private readonly postDisconnectLimit = new PostDisconnectReadLimit()
  /** True if uses of tools or images in the answer must be counted, because each one is billed. */
  countsToolUses = false
  /**
   * Set if the provider generates the response in the background. Even after the caller has
   * disconnected, such a response is screened, and counted for the hold and the bill.
   */
  background: CancellableBackgroundResponse | null = null
  /**
   * Called if a finished answer, after which only the usage can follow, contains a screened word.
   * The listener may call `continueForUsage`. If it does not, the stream ends.
   */
  onScreenedAtEnd: () => void = () => {}
  /** The type of the answer if it is not a stream of events. */
  readonly binaryType: string | null = null

  /**
   * `shownModel` is the caller's name for the model if the provider uses another name. `screen`
   * stops the stream before an event that completes a screened word. `onDelivered` is called after
   * each write and may call `endWith` or `pause`. `converted` changes the format of the events.
   */
  constructor(
    format: WireFormat,
    sink: ByteSink,
    wantsUsage: boolean,
    shownModel: string | null,
    onFirstByte: () => void,
    screen: AnswerScreen | null = null,
    onDelivered: () => void = () => {},
    converted: ConvertedStream | null = null,
  ) {
    const { stream, readTexts } = format
    this.format = format
    this.usage = new StreamUsage(stream)
    this.start = new AnswerStart(stream)
    this.modelSearch = new AnsweredModelSearch(format)
    this.latest = new FinishReasonSearch(stream.finishReason)
    this.delivered = new DeliveredText(readTexts)
    const { isLastEvent, marks, eventBytesMax } = stream
    this.scanner = new SseScanner(this, isLastEvent, marks, eventBytesMax)
    this.sink = sink
    this.wantsUsage = wantsUsage
    this.shownModel = shownModel
    this.onFirstByte = onFirstByte
    this.screen = screen
    this.onDelivered = onDelivered
    this.converted = converted
  }

  get answeredModel(): string | undefined {
    return this.modelSearch.model
  }

  /** The provider's reported usage, unparsed; undefined if none was reported. */
  get rawUsage(): unknown {
    return this.usage.raw
  }

  /** True if text was delivered after the last usage report. The report may then be too low. */
  get hasTextAfterUsage(): boolean {
    return this.usage.hasTextAfterUsage
  }

  /** An anomaly of the usage reports that can't be seen in `rawUsage`; otherwise null. */
  get usageAnomaly(): UsageAnomaly | null {
    return this.usage.anomaly
  }

  /** Reports whether only the usage is missing, or the stream is always read to its end. */
  isFinished(): boolean {
    return this.isFinal || this.format.stream.isAlwaysReadOn === true || this.latest.hasMatch()
  }

  /**
   * Continues to read the stream for its usage after the caller has disconnected. Nothing more is
   * forwarded. `readsToEnd` is true if all of the stream is read. Can be called more than once.
   */
  continueForUsage(readsToEnd: boolean): void {
    this.postDisconnectLimit.begin(readsToEnd)
    this.heldBack = []
  }

  endWith(verdict: StreamVerdict): void {
    if (this.verdict === 'open') this.verdict = verdict
  }

  pause(): void {
    this.isFlowing = false
  }

  /** True once an event with data has arrived, even one that is too large or not forwarded. */
  get hasBegun(): boolean {
    const isLarge = this.format.stream.repeatsRequest !== true && this.scanner.hasLargeObject
    return this.hasDelivered || this.hasReceivedEvent || this.start.hasEvent || isLarge
  }

  /** Reports whether an answer with this content type is a stream of events. */
  accepts(contentType: string): boolean {
    return contentType.startsWith('text/event-stream')
  }

  /** Sends the events that were held back before the answer. Returns the same as `push`. */
  releaseStart(): boolean {
    this.isFlowing = true
    this.takeStart()
    this.releaseHeld()
    return this.isFlowing
  }

  /** Processes a chunk. Returns false if the caller's connection accepts no more bytes for now. */
  push(chunk: Buffer): boolean {
    this.isFlowing = true
    this.scanner.push(chunk)
    if (!this.postDisconnectLimit.covers(chunk.length)) this.endWith('overflow')
    const { overflow } = this.scanner
    if (this.verdict === 'open' && overflow !== null) {
      this.background?.noteStart(overflow)
      this.verdict = 'overflow'
    }
    return this.isFlowing
  }

  pass(bytes: Buffer): void {
    if (this.verdict !== 'open') return
    if (this.isFinal && !hasText(bytes, this.format.readTexts)) this.holdBackFinal(bytes, true)
    else this.forward(bytes)
  }

  private forward(bytes: Buffer): void {
    this.isFinal = false
    this.background?.note(bytes)
    if (this.countIfNotForwarded(bytes) || !this.screenEvent(bytes)) return
    this.releaseHeld()
    if (!this.postDisconnectLimit.hasBegun) this.write(bytes)
    else this.hasDelivered = true
    this.delivered.add(bytes)
    this.notePassed(bytes)
    this.latest.add(bytes)
    this.onDelivered()
  }

  /** True if events are read only for the usage, without a caller or after a screened word. */
  private get isNotForwarded(): boolean {
    const { hasBegun, readsToEnd } = this.postDisconnectLimit
    return hasBegun && (this.background === null || !readsToEnd)
  }

  /**
   * Reports whether the event is held back because it comes before the answer, or is read only for
   * the usage. In the latter case, its content is counted, because the provider charges for it.
   * With several choices, content may follow a finish reason.
   */
  private countIfNotForwarded(bytes: Buffer): boolean {
    if (this.start.holds(bytes)) return true
    this.takeStart()
    if (!this.isNotForwarded) return false
    if (hasText(bytes, this.format.readTexts)) {
      this.delivered.add(bytes)
      this.notePassed(bytes)
      this.onDelivered()
    } else if (this.countsToolUses) this.delivered.addToolUses(bytes)
    return true
  }

  /** Reports whether the event may be forwarded, because it completes no screened word. */
  private screenEvent(bytes: Buffer): boolean {
    const { screen } = this
    if (screen === null || screen.isClean(bytes, this.format.readTexts)) return true
    // The text before the word is charged, because the caller would have received it if it had
    // arrived in a separate chunk.
    const [before, rest] = screen.splitBeforeWord(bytes, this.format.readTexts)
    this.delivered.add(before)
    if (this.countsToolUses) this.delivered.addToolUses(rest)
    this.notePassed(bytes)
    this.latest.add(bytes)
    if (this.isFinished()) this.onScreenedAtEnd()
    if (!this.isNotForwarded) this.verdict = 'screened'
    return false
  }

  onMarkedEvent(bytes: Buffer): void {
    if (this.verdict !== 'open') return
    const meaning = readStreamEvent(this.format.stream, bytes)
    if (meaning === null) return this.pass(bytes)
    const { usage, model, isError, error, isUsageOnly, isLast, ending = null } = meaning
    const isCovered = usage !== undefined && this.usage.add(usage)
    if (usage !== undefined) this.serviceTier = meaning.serviceTier
    if (isUsageOnly && this.usage.hasOutput) this.start.noteUsage()
    this.modelSearch.note(model)
    if (isError) {
      const text = error === undefined ? eventData(bytes) : JSON.stringify(error)
      return this.fail(Buffer.from(text ?? bytes.toString()))
    }
    if (isLast) {
      if (isCovered) this.usage.hasTextAfterUsage = false
      return this.onLastEvent(bytes)
    }
    // The usage includes the text of its own event. `notePassed` must not search this text, and it
    // searches no text while `hasTextAfterUsage` is true.
    if (isCovered) this.usage.hasTextAfterUsage = true
    if (ending === 'final' || (ending === 'trailing' && this.isFinal)) {
      this.holdBackFinal(bytes, ending === 'trailing')
    } else if (!isUsageOnly) this.forward(bytes)
    else if (this.wantsUsage && !this.postDisconnectLimit.hasBegun) this.holdBackUsage(bytes)
    if (isCovered) this.usage.hasTextAfterUsage = false
  }

  onLastEvent(bytes: Buffer): void {
    if (this.verdict !== 'open') return
    if (this.countsToolUses) this.delivered.addToolUses(bytes)
    this.start.note(bytes)
    this.heldBack.push(bytes)
    this.complete()
  }

  /** Marks the stream as done. Converts its end before that, because a conversion may fail. */
  private complete(): void {
    const { converted, start } = this
    // A report of usage shows that the provider charges for an answer, although it is empty.
    if (!start.hasBegun && !hasCounts(this.usage.raw)) {
      return start.error === null ? this.endWith('no-result') : this.fail(start.error)
    }
    this.takeStart()
    if (converted !== null && !this.postDisconnectLimit.hasBegun) {
      this.heldBack = [converted.end(Buffer.concat(this.heldBack))]
      if (this.hasConversionFailed(converted)) return
    }
    // The first byte of an answer without content is in the end of its stream.
    if (!this.hasDelivered && !this.postDisconnectLimit.hasBegun) this.onFirstByte()
    this.verdict = 'done'
  }

  /**
   * Ends the stream because the model failed. The answer counts as begun, even if nothing was
   * delivered: the call is charged, so it must not be retried.
   */
  private markModelFault(): void {
    this.verdict = 'model-fault'
    if (this.hasDelivered) return
    this.hasDelivered = true
    this.onFirstByte()
  }

  /** True if the stream is complete once the provider closes the connection. */
  get isEnding(): boolean {
    return this.isFinal && this.verdict === 'open'
  }

  /**
   * Completes a stream that ends when its connection closes. If the provider left out the blank
   * line after the last event, the event counts if its data is complete.
   */
  close(_isComplete = false): void {
    const { error } = this.start
    if (this.verdict !== 'open') return
    if (error !== null) return this.fail(error)
    if (!this.format.stream.endsWithConnection) return
    const rest = this.scanner.rest()
    if (rest.length > 0 && parseStreamEvent(rest) !== null) this.scanner.push(BLANK_LINE)
    if (this.isEnding) this.complete()
  }

  /**
   * Holds back an event that may be the last one, and sends the events that were held back before.
   * If `isTrailing` is true, the event belongs to the final event, and both are held back.
   */
  private holdBackFinal(bytes: Buffer, isTrailing: boolean): void {
    this.isFinal = true
    if (this.countIfNotForwarded(bytes) || !this.screenEvent(bytes)) return
    if (!isTrailing || this.heldBack.length >= HELD_BACK_EVENTS_MAX) this.releaseHeld()
    this.heldBack.push(bytes)
    this.delivered.add(bytes)
    this.notePassed(bytes)
    this.onDelivered()
  }

  /** Returns the bytes to be sent once the call is settled. */
  terminalBytes(): Buffer {
    const [first, ...others] = this.heldBack
    const last = first && others.length === 0 ? first : Buffer.concat(this.heldBack)
    return this.converted === null ? this.renderForCaller(last) : last
  }

  /**
   * Holds back the latest usage chunk and sends the previous one. If nothing was sent before, the
   * previous chunk is dropped, because an answer must not begin with usage.
   */
  private holdBackUsage(usageChunk: Buffer): void {
    if (this.hasDelivered) this.releaseHeld()
    this.heldBack = [usageChunk]
  }

  private notePassed(bytes: Buffer): void {
    this.modelSearch.search(bytes)
    if (this.usage.raw !== undefined && !this.usage.hasTextAfterUsage) {
      this.usage.hasTextAfterUsage = hasText(bytes, this.format.readTexts)
    }
  }

  private takeStart(): void {
    const held = this.start.take()
    for (const bytes of held) this.modelSearch.search(bytes)
    if (!this.postDisconnectLimit.hasBegun) this.heldBack.unshift(...held)
  }

  private releaseHeld(): void {
    for (const bytes of this.heldBack.splice(0)) this.write(bytes)
  }

  private fail(errorEvent: Buffer): void {
    this.verdict = 'error'
    this.errorEvent = errorEvent
  }

  private write(bytes: Buffer): void {
    const shown = this.renderForCaller(bytes)
    if (this.converted !== null && this.hasConversionFailed(this.converted)) return
    // A comment does not show that the provider works on the answer.
    this.hasReceivedEvent ||= eventData(bytes) !== null
    // Some events have no meaning in another format.
    if (shown.length === 0) return
    if (!this.hasDelivered) {
      this.hasDelivered = true
      this.onFirstByte()
    }
    if (!this.sink.write(shown)) this.isFlowing = false
  }

  /** Sets the verdict and returns true if the provider sent an error or the conversion stopped. */
  private hasConversionFailed({ error, hasGivenUp }: ConvertedStream): boolean {
    // Other channels would give an answer that is as large.
    this.hasReceivedEvent ||= hasGivenUp
    if (hasGivenUp) this.endWith('overflow')
    else if (error !== null) {
      const { type, message, isOfModel } = error
      this.fail(Buffer.from(JSON.stringify({ error: { type, message } })))
      if (isOfModel) this.markModelFault()
    }
    return hasGivenUp || error !== null
  }

  private renderForCaller(bytes: Buffer): Buffer {
    if (this.converted !== null) return this.converted.convert(bytes)
    const { shownModel } = this
    return shownModel === null ? bytes : withShownModel(this.format, bytes, shownModel)
  }
}
