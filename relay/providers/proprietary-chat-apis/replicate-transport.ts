import { setTimeout as delay } from 'node:timers/promises'
import { type Dispatcher, request } from 'undici'
import type { Connections } from '#infra/outbound/outbound-connections.ts'
import {
  type JsonObject,
  objectOrEmpty,
  parsedObject,
  textOrEmpty,
} from '#relay/canonical/json-values.ts'
import { EVENT_BYTES_MAX } from '#relay/canonical/sse-scanner.ts'
import { headerIn } from '../header-list.ts'
import type { Transport } from '../provider-access-and-decoder-types.ts'
import { PolledCall, pollingRoot } from '../submit-and-poll-call.ts'

type Handler = Dispatcher.DispatchHandler
type Controller = Dispatcher.DispatchController

const POLL_MS = 1_000
/**
 * The interval in milliseconds (`COUNTS_POLL_MS`) and the number (`COUNTS_POLLS`) of the first
 * polls after the stream of a prediction has ended. The token counts are usually ready soon after
 * the end of the stream.
 */
const COUNTS_POLL_MS = 200
const COUNTS_POLLS = 10
/**
 * The maximum time of the request that creates a prediction, in milliseconds. The request continues
 * if the call is aborted, because a prediction can be cancelled only by its id, and the id is in
 * the response.
 */
const CREATE_MS = 60_000
const ENDED = new Set(['succeeded', 'failed', 'canceled', 'aborted'])
const NO_TRAILERS = {}
const NOTHING = Buffer.alloc(0)
const BLANK_LINE = Buffer.from('\n\n')
/** A comment in the stream, which carries no event. */
const STILL_RUNNING = Buffer.from(': the prediction is running\n\n')

/** Returns the offset after the last complete server-sent event. */
function endOfEvents(bytes: Buffer): number {
  const [plain, windows] = [bytes.lastIndexOf('\n\n'), bytes.lastIndexOf('\r\n\r\n')]
  return Math.max(plain < 0 ? 0 : plain + 2, windows < 0 ? 0 : windows + 4)
}

/**
 * Sends each call to Replicate as a prediction, and forwards the prediction's stream. The completed
 * prediction, with its output and token counts, follows as the event `prediction`. The prediction
 * is polled until it has ended or a deadline of the call has passed, even if the stream was cut
 * off. If the caller disconnects or the call fails, the prediction is cancelled.
 */
export const predictionTransport = (connections: Connections, origin: string): Transport => ({
  dispatch: ({ path, headers, body }, handler) => {
    const flat = headers as readonly string[]
    const own = { authorization: headerIn(flat, 'authorization'), 'user-agent': 'tallygate' }
    const call = new PredictionCall(connections, origin, own, handler)
    void call.run(path, body as Buffer)
    return true
  },
})

/**
 * Reports whether the key may be sent to this stream URL. The URL must belong to the channel's
 * address or to Replicate.
 */
function isStreamUrl(text: string, origin: string): boolean {
  const url = URL.parse(text)
  if (url === null) return false
  return url.origin === origin || (url.protocol === 'https:' && /\.replicate\.com$/.test(url.host))
}

/**
 * Thrown if the handler throws, for example because of a bug in a decoder. Failures of the
 * connection are not reported by this error.
 */
class HandlerFailed extends Error {
  constructor(cause: unknown) {
    super('the handler of a prediction failed', { cause })
  }
}

class PredictionCall extends PolledCall {
  private readonly origin: string
  /** The URL of the prediction. Empty until its id is known. */
  private url = ''
  private hasBegun = false

  constructor(
    connections: Connections,
    origin: string,
    headers: Readonly<Record<string, string>>,
    handler: Handler,
  ) {
    super(connections, headers, handler)
    this.origin = origin
  }

  async run(path: string, body: Buffer): Promise<void> {
    const control = this.controller()
    try {
      const created = await this.send(`${this.origin}${path}`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
        signal: AbortSignal.timeout(CREATE_MS),
        // If the response is lost, the provider may have created the prediction.
        onStart: () => this.handler.onRequestStart?.(control, {}),
      })
      if (created.status < 200 || created.status > 299) return this.finish(control, created)
      const prediction = parsedObject(created.text) ?? {}
      const id = textOrEmpty(prediction.id)
      if (!/^[\w-]+$/.test(id)) return this.finish(control, { ...created, status: 502 })
      this.url = `${this.origin}${pollingRoot(path, '/v1/')}predictions/${id}`
      this.aborter.signal.throwIfAborted()
      const { stream } = objectOrEmpty(prediction.urls)
      const url = textOrEmpty(stream)
      const isStream = isStreamUrl(url, this.origin)
      const isPassed = isStream && (await this.passStream(control, url))
      const last = await this.ended(control, isPassed ? COUNTS_POLLS : 0)
      if (!this.hasBegun) this.begin(control)
      this.emit(control, `event: prediction\ndata: ${JSON.stringify(last)}\n\n`)
      // The call has not ended if the handler throws, so that the error below reaches the handler.
      this.handler.onResponseEnd?.(control, NO_TRAILERS)
      this.isEnded = true
    } catch (error) {
      if (this.isEnded) return
      this.isEnded = true
      this.cancel()
      const reason = error instanceof HandlerFailed ? error.cause : error
      this.handler.onResponseError?.(control, reason as Error)
    }
  }

  private begin(control: Controller): void {
    this.hasBegun = true
    this.handler.onResponseStart?.(control, 200, { 'content-type': 'text/event-stream' })
  }

  private emit(control: Controller, data: Buffer | string): void {
    if (this.isEnded) return
    try {
      this.handler.onResponseData?.(control, Buffer.from(data))
    } catch (error) {
      throw new HandlerFailed(error)
    }
  }

  /**
   * Forwards the stream of the prediction. Returns false if no stream was received. If the
   * connection fails later, the prediction continues, and its output is polled. An incomplete event
   * before the failure is dropped, because the output contains its text.
   */
  private async passStream(control: Controller, url: string): Promise<boolean> {
    const { dispatcher } = this.connections
    const headers = { ...this.ownHeaders, accept: 'text/event-stream' }
    const { signal } = this.aborter
    try {
      const { statusCode, body } = await request(url, { dispatcher, headers, signal })
      if (statusCode !== 200) {
        await body.dump()
        return false
      }
      this.begin(control)
      let rest: Buffer = NOTHING
      for await (const chunk of body as AsyncIterable<Buffer>) {
        const bytes = Buffer.concat([rest, chunk])
        // An event that is too large is passed on, and the decoder refuses it.
        const end = bytes.length > EVENT_BYTES_MAX ? bytes.length : endOfEvents(bytes)
        rest = bytes.subarray(end)
        if (end > 0) this.emit(control, bytes.subarray(0, end))
        if (this.resumed !== null) await this.resumed
      }
      this.emit(control, Buffer.concat([rest, BLANK_LINE]))
    } catch (error) {
      signal.throwIfAborted()
      // The output can replace the rest of the stream only if the connection failed.
      if (error instanceof HandlerFailed) throw error
    }
    return this.hasBegun
  }

  /**
   * Polls the prediction until it has ended, and returns it. The first `quickPolls` polls have a
   * shorter interval.
   */
  private async ended(control: Controller, quickPolls: number): Promise<JsonObject> {
    for (let poll = 1; ; poll += 1) {
      const prediction = await this.poll(this.url, ({ text }) => parsedObject(text))
      if (prediction !== null && ENDED.has(textOrEmpty(prediction.status))) return prediction
      // While the prediction is known to run, comments keep a stream that has begun from timing
      // out.
      if (prediction !== null && this.hasBegun) this.emit(control, STILL_RUNNING)
      // A failed poll is repeated after the longer interval. At the shorter interval, ten polls
      // would fail within two seconds, which would end the call although the stream is complete.
      const isQuick = prediction !== null && poll < quickPolls
      const pollMs = isQuick ? COUNTS_POLL_MS : POLL_MS
      await delay(pollMs, undefined, { signal: this.aborter.signal })
    }
  }

  private cancel(): void {
    if (this.url !== '') this.cancelAt(`${this.url}/cancel`)
  }
}
