import { setTimeout as delay } from 'node:timers/promises'
import { type Dispatcher, request } from 'undici'
import type { Connections } from '#infra/outbound/outbound-connections.ts'
import type { JsonObject } from '#relay/conversion/canonical-request.ts'
import { objectOrEmpty, parsedObject, textOrEmpty } from '#relay/conversion/json-fields.ts'
import { headerIn, type Transport } from '../clouds/cloud-access.ts'
import { PolledCall } from '../submit-and-poll-call.ts'

type Handler = Dispatcher.DispatchHandler
type Controller = Dispatcher.DispatchController

const POLL_MS = 1_000
/**
 * The interval in milliseconds and the maximum number of polls after the stream of a prediction has
 * ended. Its token counts are ready shortly after this end.
 */
const COUNTS_POLL_MS = 200
const COUNTS_POLLS_MAX = 10
const ENDED = new Set(['succeeded', 'failed', 'canceled', 'aborted'])
const NO_TRAILERS = {}

/**
 * Sends each call to Replicate as a prediction, and forwards the prediction's stream. The completed
 * prediction, with its token counts, follows as the event `prediction`. A prediction without a
 * stream is polled until it has ended. It is cancelled if the caller disconnects.
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

class PredictionCall extends PolledCall {
  private readonly origin: string
  private id = ''

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
      const headers = { 'content-type': 'application/json' }
      const created = await this.send(`${this.origin}${path}`, { method: 'POST', body, headers })
      this.handler.onRequestStart?.(control, {})
      if (created.status < 200 || created.status > 299) return this.finish(control, created)
      const prediction = parsedObject(created.text) ?? {}
      const id = textOrEmpty(prediction.id)
      if (!/^[\w-]+$/.test(id)) return this.finish(control, { ...created, status: 502 })
      this.id = id
      if (this.aborter.signal.aborted) return this.cancel()
      const { stream } = objectOrEmpty(prediction.urls)
      const url = textOrEmpty(stream)
      const isStream = isStreamUrl(url, this.origin)
      if (isStream) await this.passStream(control, url)
      const pollMs = isStream ? COUNTS_POLL_MS : POLL_MS
      const last = await this.ended(pollMs, isStream ? COUNTS_POLLS_MAX : Number.POSITIVE_INFINITY)
      if (!isStream) this.begin(control)
      this.emit(control, `event: prediction\ndata: ${JSON.stringify(last)}\n\n`)
      this.isEnded = true
      this.handler.onResponseEnd?.(control, NO_TRAILERS)
    } catch (error) {
      if (this.isEnded) return
      this.isEnded = true
      this.cancel()
      this.handler.onResponseError?.(control, error as Error)
    }
  }

  private begin(control: Controller): void {
    this.handler.onResponseStart?.(control, 200, { 'content-type': 'text/event-stream' })
  }

  private emit(control: Controller, data: Buffer | string): void {
    if (!this.isEnded) this.handler.onResponseData?.(control, Buffer.from(data))
  }

  private async passStream(control: Controller, url: string): Promise<void> {
    const { dispatcher } = this.connections
    const headers = { ...this.ownHeaders, accept: 'text/event-stream' }
    const { signal } = this.aborter
    const { statusCode, body } = await request(url, { dispatcher, headers, signal })
    if (statusCode !== 200) {
      await body.dump()
      throw new Error('the stream of a prediction was refused')
    }
    this.begin(control)
    for await (const chunk of body as AsyncIterable<Buffer>) {
      this.emit(control, chunk)
      if (this.resumed !== null) await this.resumed
    }
  }

  /** Polls the prediction. Returns it once it has ended, or after `pollsMax` requests. */
  private async ended(pollMs: number, pollsMax: number): Promise<JsonObject> {
    const url = `${this.origin}/v1/predictions/${this.id}`
    for (let poll = 1; ; poll += 1) {
      const { status, text } = await this.send(url, { method: 'GET' })
      const prediction = parsedObject(text)
      if (status !== 200 || prediction === null) throw new Error('a prediction was not found')
      if (ENDED.has(textOrEmpty(prediction.status)) || poll >= pollsMax) return prediction
      await delay(pollMs, undefined, { signal: this.aborter.signal })
    }
  }

  private cancel(): void {
    if (this.id !== '') this.cancelAt(`${this.origin}/v1/predictions/${this.id}/cancel`)
  }
}
