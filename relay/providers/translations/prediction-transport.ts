import { setTimeout as delay } from 'node:timers/promises'
import { type Dispatcher, request } from 'undici'
import type { Connections } from '#infra/outbound/outbound-connections.ts'
import type { JsonObject } from '#relay/conversion/canonical-request.ts'
import { objectOrEmpty, parsedObject, textOrEmpty } from '#relay/conversion/json-fields.ts'
import { headerIn, type Transport } from '../clouds/cloud-access.ts'

type Handler = Dispatcher.DispatchHandler
type Controller = Dispatcher.DispatchController

/** The timeout of a request. An attempt can't abort it otherwise before Replicate has answered. */
const REQUEST_MS = 5 * 60_000
const JSON_BYTES_MAX = 2 * 1024 * 1024
const POLL_MS = 1_000
/** The counts of a stream are ready shortly after its end. */
const COUNTS_POLL_MS = 200
const COUNTS_POLLS_MAX = 10
const ENDED = new Set(['succeeded', 'failed', 'canceled', 'aborted'])
const NO_TRAILERS = {}

/**
 * Sends each call to Replicate as a prediction, and passes on its stream. The prediction, with its
 * counts, follows as the event `prediction`. Without a stream, the prediction is polled until it
 * has ended. It is cancelled when the caller leaves.
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

/** The key is sent only to the address of the channel, and to Replicate's servers of streams. */
function isStreamUrl(text: string, origin: string): boolean {
  const url = URL.parse(text)
  if (url === null) return false
  return url.origin === origin || (url.protocol === 'https:' && /\.replicate\.com$/.test(url.host))
}

class PredictionCall {
  private readonly connections: Connections
  private readonly origin: string
  private readonly headers: Readonly<Record<string, string>>
  private readonly handler: Handler
  private readonly aborter = new AbortController()
  private id = ''
  private isEnded = false
  private resumed: Promise<void> | null = null
  private wake: () => void = () => {}

  constructor(
    connections: Connections,
    origin: string,
    headers: Readonly<Record<string, string>>,
    handler: Handler,
  ) {
    this.connections = connections
    this.origin = origin
    this.headers = headers
    this.handler = handler
  }

  async run(path: string, body: Buffer): Promise<void> {
    const control = this.controller()
    try {
      const type = { 'content-type': 'application/json' }
      const created = await this.send(`${this.origin}${path}`, 'POST', body, type)
      this.handler.onRequestStart?.(control, {})
      if (created.status < 200 || created.status > 299) return this.refuse(control, created)
      const prediction = parsedObject(created.text) ?? {}
      const id = textOrEmpty(prediction.id)
      if (!/^[\w-]+$/.test(id)) return this.refuse(control, { ...created, status: 502 })
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

  private refuse(
    control: Controller,
    { status, text }: { readonly status: number; readonly text: string },
  ): void {
    this.isEnded = true
    this.handler.onResponseStart?.(control, status, { 'content-type': 'application/json' })
    this.handler.onResponseData?.(control, Buffer.from(text))
    this.handler.onResponseEnd?.(control, NO_TRAILERS)
  }

  private begin(control: Controller): void {
    this.handler.onResponseStart?.(control, 200, { 'content-type': 'text/event-stream' })
  }

  private emit(control: Controller, data: Buffer | string): void {
    if (!this.isEnded) this.handler.onResponseData?.(control, Buffer.from(data))
  }

  private async passStream(control: Controller, url: string): Promise<void> {
    const { dispatcher } = this.connections
    const headers = { ...this.headers, accept: 'text/event-stream', 'accept-encoding': 'identity' }
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

  /** Returns the prediction once it has ended, or after `pollsMax` requests. */
  private async ended(pollMs: number, pollsMax: number): Promise<JsonObject> {
    for (let poll = 1; ; poll += 1) {
      const { status, text } = await this.send(`${this.origin}/v1/predictions/${this.id}`, 'GET')
      const prediction = parsedObject(text)
      if (status !== 200 || prediction === null) throw new Error('a prediction was not found')
      if (ENDED.has(textOrEmpty(prediction.status)) || poll >= pollsMax) return prediction
      await delay(pollMs, undefined, { signal: this.aborter.signal })
    }
  }

  private async send(
    url: string,
    method: 'GET' | 'POST',
    body: Buffer | null = null,
    added: Readonly<Record<string, string>> = {},
    signal: AbortSignal = this.aborter.signal,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const { dispatcher } = this.connections
    const headers = { ...this.headers, ...added, 'accept-encoding': 'identity' }
    const limited = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)])
    const options = { dispatcher, method, headers, body, signal: limited }
    const answer = await request(url, options)
    const parts: Buffer[] = []
    let length = 0
    for await (const part of answer.body as AsyncIterable<Buffer>) {
      length += part.length
      if (length > JSON_BYTES_MAX) throw new Error('the answer is too long')
      parts.push(part)
    }
    return { status: answer.statusCode, text: Buffer.concat(parts).toString('utf8') }
  }

  /** Cancels the prediction, so that nobody pays for what nobody reads. */
  private cancel(): void {
    if (this.id === '') return
    const url = `${this.origin}/v1/predictions/${this.id}/cancel`
    this.send(url, 'POST', null, {}, AbortSignal.timeout(15_000)).catch(() => {})
  }

  private controller(): Controller {
    const { aborter } = this
    const call = this
    return {
      rawHeaders: [],
      rawTrailers: [],
      get aborted() {
        return aborter.signal.aborted
      },
      get reason() {
        return aborter.signal.aborted ? (aborter.signal.reason as Error) : null
      },
      get paused() {
        return call.resumed !== null
      },
      pause: () => {
        this.resumed ??= new Promise((resume) => {
          this.wake = resume
        })
      },
      resume: () => {
        this.resumed = null
        this.wake()
      },
      abort: (error: Error) => {
        if (!this.isEnded) aborter.abort(error)
        this.resumed = null
        this.wake()
      },
    }
  }
}
