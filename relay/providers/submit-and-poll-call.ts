import type { Readable } from 'node:stream'
import { type Dispatcher, request } from 'undici'
import { onRequestStart } from '#infra/outbound/on-request-start.ts'
import type { Connections } from '#infra/outbound/outbound-connections.ts'
import { readBoundedBody } from '#infra/outbound/read-bounded-body.ts'

type Handler = Dispatcher.DispatchHandler
type Controller = Dispatcher.DispatchController

/** The timeout of each request in milliseconds. */
const REQUEST_MS = 5 * 60_000
/** The timeout of one poll in milliseconds. A poll that takes longer counts as failed. */
const POLL_REQUEST_MS = 30_000
/**
 * The number of consecutive failed polls that ends a call. Fewer polls may fail, for example
 * because a proxy restarts, while the provider continues to work.
 */
const FAILED_POLLS_MAX = 10
const JSON_BYTES_MAX = 2 * 1024 * 1024
const CANCEL_MS = 15_000
const NO_TRAILERS = {}

type PolledRequest = {
  readonly method: 'GET' | 'POST'
  readonly body?: Buffer | Readable
  /** Additional headers of the request. */
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** Called when the provider may have received the request. */
  readonly onStart?: () => void
}

/**
 * Returns the path below which a provider's work is polled and cancelled. The result ends with
 * `root`, a part of `path`, to which the work was submitted. The path of a proxy may precede this
 * part, and is kept.
 */
export function pollingRoot(path: string, root: string): string {
  const [submitted = ''] = path.split('?', 1)
  return `${submitted.slice(0, Math.max(submitted.lastIndexOf(root), 0))}${root}`
}

export type PolledAnswer = { readonly status: number; readonly text: string }

/**
 * A call that consists of several requests to a provider, such as one that starts work and others
 * that poll it. For `handler`, the call looks like a single HTTP call. If the handler aborts the
 * call, the current request is aborted, unless it was sent with a signal of its own.
 */
export class PolledCall {
  protected readonly connections: Connections
  protected readonly handler: Handler
  protected readonly aborter = new AbortController()
  private failedPolls = 0
  protected isEnded = false
  protected resumed: Promise<void> | null = null
  private readonly headers: Readonly<Record<string, string>>
  private wake: () => void = () => {}

  /** `headers` contain the credentials and are sent with every request. */
  constructor(
    connections: Connections,
    headers: Readonly<Record<string, string>>,
    handler: Handler,
  ) {
    this.connections = connections
    this.headers = headers
    this.handler = handler
  }

  protected get ownHeaders(): Readonly<Record<string, string>> {
    return { ...this.headers, 'accept-encoding': 'identity' }
  }

  /**
   * Passes a complete JSON answer to the handler, and ends the call. If the handler throws, the
   * call ends with this error. The handler would otherwise wait for an end that never comes.
   */
  protected finish(control: Controller, { status, text }: PolledAnswer): void {
    this.isEnded = true
    try {
      this.handler.onResponseStart?.(control, status, { 'content-type': 'application/json' })
      this.handler.onResponseData?.(control, Buffer.from(text))
      this.handler.onResponseEnd?.(control, NO_TRAILERS)
    } catch (error) {
      this.handler.onResponseError?.(control, error as Error)
    }
  }

  protected async send(
    url: string,
    { method, body, headers = {}, signal = this.aborter.signal, onStart }: PolledRequest,
  ): Promise<PolledAnswer> {
    const { dispatcher } = this.connections
    const answer = await request(url, {
      dispatcher: onStart === undefined ? dispatcher : dispatcher.compose(onRequestStart(onStart)),
      method,
      headers: { ...this.ownHeaders, ...headers },
      body: body ?? null,
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]),
    })
    const text = await readBoundedBody(answer.body, JSON_BYTES_MAX)
    return { status: answer.statusCode, text: text.toString('utf8') }
  }

  /**
   * Polls the provider's work once. `read` returns null for an answer that can't be read. Returns
   * null if the poll failed, and the caller of this method then polls again. Throws after too many
   * failed polls in a row, and if the handler has aborted the call.
   */
  protected async poll<Result>(
    url: string,
    read: (answer: PolledAnswer) => Result | null,
  ): Promise<Result | null> {
    const { signal } = this.aborter
    const limited = AbortSignal.any([signal, AbortSignal.timeout(POLL_REQUEST_MS)])
    const answer = await this.send(url, { method: 'GET', signal: limited }).catch(() => null)
    signal.throwIfAborted()
    const result = answer?.status === 200 ? read(answer) : null
    this.failedPolls = result === null ? this.failedPolls + 1 : 0
    if (this.failedPolls >= FAILED_POLLS_MAX) throw new Error('the polls of a provider failed')
    return result
  }

  /**
   * Asks the provider to cancel the work. Otherwise, the provider would charge for a result that
   * nobody reads. Errors of the request are ignored.
   */
  protected cancelAt(url: string): void {
    const signal = AbortSignal.timeout(CANCEL_MS)
    this.send(url, { method: 'POST', signal }).catch(() => {})
  }

  protected controller(): Controller {
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
