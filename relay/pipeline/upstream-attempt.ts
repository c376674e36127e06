import type { Dispatcher } from 'undici'
import { ProxyFailed } from '#infra/outbound/proxy-connector.ts'
import {
  errorOutOfList,
  retryAfterInBody,
} from '../canonical/retry-delay-and-list-form-of-google-errors.ts'
import { isInvalidJsonObject } from '../dialects/check-successful-answer.ts'
import type { WireFormat } from '../dialects/wire-format.ts'
import {
  type AnswerDecoder,
  CredentialsError,
  type DecodedAnswer,
  type ProviderCall,
  type StreamDecoder,
  type Transport,
} from '../providers/provider-access-and-decoder-types.ts'
import { AnswerBuffer } from './answer-buffer.ts'
import type { AnswerForwarder } from './answer-forwarder-types.ts'
import type { AttemptEnd, AttemptError } from './attempt-end-types.ts'
import type { AttemptOptions } from './attempt-options.ts'
import type { Deadlines } from './call-deadlines-and-timer.ts'
import { AttemptEvidence } from './provider-evidence-of-attempt.ts'
import { type ProviderHeaders, retryAfterIn } from './read-retry-delay-and-request-id.ts'

type AttemptRequest = Omit<ProviderCall, 'origin'>
type Upload = NonNullable<AttemptRequest['upload']>

/**
 * The default maximum size of a plain answer that is sent to the caller, in bytes. A wire format
 * may set another one (`answerBytesMax`).
 */
export const ANSWER_BYTES_MAX = 32 * 1024 * 1024
const ERROR_BYTES_MAX = 64 * 1024
const LINGER_MS = 2_000
/** The maximum time for which a complete stream waits for the end of its connection. */
const FINAL_WAIT_MS = 5_000
const NOTHING = Buffer.alloc(0)

class Aborted extends Error {}

/**
 * One attempt to get an answer from one channel. The promise of `start` resolves exactly once, and
 * later data is ignored. This class has no timer. The `RunningCall` calls `onTick` on every tick of
 * the relay's timer.
 */
export class UpstreamAttempt implements Dispatcher.DispatchHandler {
  private readonly format: WireFormat
  private readonly forwarder: AnswerForwarder | null
  private readonly deadlines: Deadlines
  private readonly answerStartMs: number
  private startedAt: number
  private controller: Dispatcher.DispatchController | null = null
  private resolve: ((end: AttemptEnd) => void) | null = null
  private abortedBy: AttemptError | null = null
  private status: number | null = null
  private isStream = false
  private readonly received = new AnswerBuffer()
  private retryAfterMs = 0
  private lastByteAt: number
  private pausedAt = 0
  private endedAt = 0
  private readsForUsageOnly = false
  isClosed = false
  /** True once the request was passed to the transport, after its credentials were obtained. */
  isSent = false
  readonly evidence = new AttemptEvidence()
  private readonly decoder: AnswerDecoder | null
  private readonly options: AttemptOptions
  /** Decodes the stream of this attempt, if its media type is that of `decoder`. */
  private streamDecoder: StreamDecoder | null = null
  private answerHeaders: ProviderHeaders = {}

  constructor(
    format: WireFormat,
    forwarder: AnswerForwarder | null,
    deadlines: Deadlines,
    options: AttemptOptions = {},
  ) {
    this.format = format
    this.forwarder = forwarder
    this.deadlines = deadlines
    this.answerStartMs = options.answerStartMs ?? deadlines.firstEventMs
    this.decoder = options.decoder ?? null
    this.options = options
    this.startedAt = performance.now()
    this.lastByteAt = this.startedAt
  }

  /**
   * Sends the request. If `request` is a promise, its credentials are still being obtained. A
   * rejection ends the attempt.
   */
  start(pool: Transport, request: AttemptRequest | Promise<AttemptRequest>): Promise<AttemptEnd> {
    return new Promise((resolve) => {
      this.resolve = resolve
      if (!(request instanceof Promise)) return this.dispatch(pool, request)
      request
        .then((authorized) => this.dispatch(pool, authorized))
        .catch((error: unknown) => this.endUnsent(error))
    })
  }

  private dispatch(pool: Transport, { path, headers, body, upload }: AttemptRequest): void {
    // The attempt may have been aborted while its credentials were obtained.
    if (this.resolve === null) {
      this.isClosed = true
      return
    }
    this.isSent = true
    if (upload === undefined) this.evidence.noteSent(body)
    const sent = upload === undefined ? body : this.openUpload(upload)
    pool.dispatch({ method: 'POST', path, headers: headers as string[], body: sent }, this)
  }

  private openUpload(upload: Upload): ReturnType<Upload['open']> {
    // The time limit for the beginning of the answer starts when the whole body has been sent.
    return upload.open((chunk) => {
      this.startedAt = performance.now()
      this.evidence.noteUploaded(chunk)
    })
  }

  private endUnsent(error: unknown): void {
    this.isClosed = true
    const isRefused = error instanceof CredentialsError && error.status !== null
    const failed = { kind: 'failed', retryAfterMs: 0 } as const
    if (!isRefused) this.finish({ ...failed, status: null, error: 'connect', body: NOTHING })
    else this.finish({ ...failed, status: error.status, error: 'status', body: error.body })
  }

  get isRunning(): boolean {
    return this.resolve !== null
  }

  /** True for a plain answer. Providers may send one although a stream was requested. */
  get isPlain(): boolean {
    return this.forwarder === null || (this.status !== null && !this.isStream)
  }

  /**
   * Continues to read the answer only for its usage. The caller's deadlines no longer apply, so the
   * owner of the attempt must end it.
   */
  continueForUsage(): void {
    this.readsForUsageOnly = true
    this.resume()
  }

  /** Ends the attempt with the part of the answer that was delivered so far. */
  abort(error: AttemptError): void {
    if (this.resolve === null) return
    this.abortedBy = error
    this.finish(this.endBy(error))
    // `finish` must be called first. The abort immediately calls `onResponseError`, which would
    // otherwise report a broken connection.
    this.controller?.abort(new Aborted(error))
  }

  /** Resumes reading when the caller's connection accepts bytes again. */
  resume(): void {
    if (this.pausedAt === 0) return
    this.pausedAt = 0
    this.lastByteAt = performance.now()
    this.controller?.resume()
  }

  onTick(now: number): void {
    if (this.resolve === null) return this.closeLingering(now)
    const isEnding = this.pausedAt === 0 && this.forwarder?.isEnding === true
    if (isEnding && now - this.lastByteAt > FINAL_WAIT_MS) return this.closeStream()
    if (this.readsForUsageOnly) return
    const { idleMs, writeStallMs } = this.deadlines
    if (this.pausedAt > 0) {
      if (now - this.pausedAt <= writeStallMs) return
      if (this.options.onWriteStall === undefined) this.abort('caller-gone')
      else this.options.onWriteStall()
      return
    }
    this.releaseOverdueStart(now)
    const { forwarder, received } = this
    const hasBegun = forwarder === null ? received.length > 0 : forwarder.hasBegun
    const since = hasBegun ? this.lastByteAt : this.startedAt
    if (now - since > (hasBegun ? idleMs : this.answerStartMs)) this.abort('timeout')
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller
    if (this.abortedBy !== null) controller.abort(new Aborted(this.abortedBy))
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: ProviderHeaders,
  ): void {
    this.status = status
    this.lastByteAt = performance.now()
    this.evidence.noteHeaders(headers)
    if (status !== 200) this.retryAfterMs = retryAfterIn(headers, Date.now())
    if (this.resolve !== null) this.options.onHeaders?.(headers)
    if (this.decoder !== null) this.answerHeaders = headers
    if (status < 200 || status > 299) return
    const type = String(headers['content-type'] ?? '')
    if (this.decoder !== null && type.startsWith(this.decoder.mediaType)) {
      this.streamDecoder = this.decoder.createStream()
    }
    const isStream = this.forwarder?.accepts(type) === true || this.streamDecoder !== null
    this.isStream = this.forwarder !== null && isStream
    const encoding = headers['content-encoding'] ?? 'identity'
    if (encoding !== 'identity' || type.startsWith('text/html')) this.abort('format')
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.resolve === null) return
    this.lastByteAt = performance.now()
    this.evidence.noteReceived(chunk)
    if (this.isStream) return this.guard(() => this.carryDecoded(controller, chunk))
    const isAnswer = this.status !== null && this.status < 300
    const { answerBytesMax = ANSWER_BYTES_MAX } = this.format
    if (this.received.add(chunk, isAnswer ? answerBytesMax : ERROR_BYTES_MAX)) return
    if (!isAnswer) this.abort('status')
    else if (!this.received.isLargeAnswer || !this.received.addToTail(chunk))
      this.abort('too-large')
  }

  onResponseEnd(): void {
    this.isClosed = true
    const { status } = this
    if (this.resolve === null || status === null) return
    if (this.isStream) return this.closeStream(true)
    if (this.received.isTooLarge) return this.finish(this.endBy('too-large'))
    if (status < 200 || status > 299) return this.finish(this.endBy('status'))
    this.guard(() => this.readPlain(status))
  }

  private readPlain(status: number): void {
    const { adaptAnswer } = this.options
    const createdAt = Math.floor(Date.now() / 1_000)
    if (adaptAnswer) this.received.replace(adaptAnswer(this.received.body(), createdAt))
    const body = this.received.body()
    const decoded = this.decoder?.readAnswer?.(body, status) ?? null
    if (decoded !== null) return this.endDecoded(decoded, status)
    const error = this.format.errorOfAnswer(body) ?? this.faultOfStreamedAnswer(body)
    this.finish(error === null ? { kind: 'plain', status, body } : this.endBy(error))
  }

  /**
   * Checks a plain answer to a request for a stream. The answer may have to be sent as a stream. If
   * it is invalid JSON, the attempt must fail here, because a call can't fail once it is charged.
   */
  private faultOfStreamedAnswer(body: Buffer): 'format' | null {
    return this.forwarder !== null && isInvalidJsonObject(body) ? 'format' : null
  }

  /**
   * Ends the attempt with a decoded answer. Some providers send errors with a success status. The
   * attempt then ends with the status of the error.
   */
  private endDecoded(decoded: DecodedAnswer, status: number): void {
    if (decoded.kind === 'answer') return this.finish({ kind: 'plain', status, body: decoded.body })
    if (decoded.kind === 'failed') return this.finish(this.endBy(decoded.error))
    this.status = decoded.status
    this.finish(this.endBy('status'))
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.isClosed = true
    if (this.resolve === null) return
    const isUnreached = this.controller === null
    if (!isUnreached) return this.isStream ? this.closeStream() : this.finish(this.endBy('cut'))
    const isLate = (error as { code?: string }).code === 'UND_ERR_CONNECT_TIMEOUT'
    const end = this.endBy(isLate ? 'timeout' : 'connect')
    const isProxyFault = end.kind === 'failed' && error instanceof ProxyFailed
    this.finish(isProxyFault ? { ...end, isProxy: true } : end)
  }

  private carryDecoded(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { streamDecoder } = this
    if (streamDecoder === null) return this.carry(controller, chunk)
    const events = streamDecoder.push(chunk)
    if (events.length > 0) this.carry(controller, events)
    if (streamDecoder.fault !== null) this.abort(streamDecoder.fault)
  }

  private carry(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { forwarder } = this
    if (forwarder === null) return
    this.react(controller, forwarder, forwarder.push(chunk))
  }

  /** Sends the beginning of a stream if its answer does not follow soon. */
  private releaseOverdueStart(now: number): void {
    const { controller, forwarder } = this
    if (controller === null || forwarder?.start?.isOverdue(now) !== true) return
    this.guard(() => this.react(controller, forwarder, forwarder.releaseStart?.() !== false))
  }

  /** Ends or pauses the attempt after the forwarder has processed a part of the stream. */
  private react(
    controller: Dispatcher.DispatchController,
    { verdict }: AnswerForwarder,
    isFlowing: boolean,
  ): void {
    if (verdict === 'done') this.finish(this.endBy(null))
    else if (verdict === 'error') this.abort('error-event')
    else if (verdict === 'overflow') this.abort('too-large')
    else if (verdict !== 'open') this.abort(verdict)
    else if (!isFlowing) {
      this.pausedAt = performance.now()
      controller.pause()
    }
  }

  /**
   * Ends the attempt at the end of a stream: its connection has closed, or the stream is complete
   * but its connection stays open for too long. The stream was cut off, unless the forwarder finds
   * that it is complete or failed. `isComplete` is true if the provider ended the response
   * properly.
   */
  private closeStream(isComplete = false): void {
    const { forwarder } = this
    this.guard(() => {
      const last = this.streamDecoder?.end?.()
      if (last !== undefined) forwarder?.push(last)
      forwarder?.close(isComplete)
    })
    const { verdict } = forwarder ?? {}
    if (verdict === 'done') return this.finish(this.endBy(null))
    if (verdict === 'model-fault' || verdict === 'no-result') {
      return this.finish(this.endBy(verdict))
    }
    this.finish(this.endBy(verdict === 'error' ? 'error-event' : 'cut'))
  }

  /**
   * Ends the attempt if `step` throws, for example because a provider's JSON is nested too deeply
   * to be serialized again. No promise carries the exception, so it would end the process.
   */
  private guard(step: () => void): void {
    try {
      step()
    } catch (error) {
      this.options.onException?.(error)
      this.abort('format')
    }
  }

  private endBy(error: AttemptError | null): AttemptEnd {
    const { status, forwarder } = this
    if (this.isStream && forwarder !== null && status !== null) {
      if (error === null || forwarder.hasDelivered) return { kind: 'streamed', status, error }
    }
    const body = forwarder?.errorEvent ?? this.errorBody(error)
    const retryAfterMs = this.retryAfterMs || retryAfterInBody(body)
    const failed = { kind: 'failed', status, error: error ?? 'cut', body, retryAfterMs } as const
    const errorStatus = error === 'error-event' ? (this.streamDecoder?.errorStatus ?? null) : null
    if (errorStatus !== null) return { ...failed, status: errorStatus, error: 'status' }
    const isDispatched = this.controller !== null && (status === null || status < 300)
    if (!isDispatched) return failed
    if (this.received.isTooLarge) {
      return { ...failed, error: 'too-large', isDispatched, tail: this.received.lastMembers() }
    }
    if (!this.isStream || forwarder?.hasBegun !== true) return { ...failed, isDispatched }
    const begun = { ...failed, isDispatched, hasBegun: true } as const
    return forwarder.start?.hasUsage === true ? { ...begun, hasReportedUsage: true } : begun
  }

  private finish(end: AttemptEnd): void {
    const { resolve } = this
    if (resolve === null) return
    this.resolve = null
    this.received.clear()
    this.endedAt = performance.now()
    resolve(end)
  }

  /** Closes a connection that the provider keeps open for too long after the end of its answer. */
  private closeLingering(now: number): void {
    if (this.isClosed || now - this.endedAt < LINGER_MS) return
    this.isClosed = true
    this.controller?.abort(new Aborted('lingering'))
  }

  private errorBody(error: AttemptError | null): Buffer {
    const body = this.received.body()
    if (error === 'error-event') {
      const failure = this.format.errorOfFailedAnswer?.(body) ?? null
      return failure === null ? body : Buffer.from(JSON.stringify(failure))
    }
    if (error !== 'status') return body
    const { decoder, answerHeaders, status } = this
    try {
      return decoder?.errorBody(body, answerHeaders, status ?? 502) ?? errorOutOfList(body)
    } catch (exception) {
      this.options.onException?.(exception)
      return body
    }
  }
}
