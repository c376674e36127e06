import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import type { Connections } from '#infra/outbound/outbound-connections.ts'
import {
  type JsonObject,
  objectOrEmpty,
  parsedObject,
  textOf,
  textOrEmpty,
} from '#relay/canonical/json-values.ts'
import { headerIn, headersByName, withoutHeaders } from '../header-list.ts'
import type { Transport } from '../provider-access-and-decoder-types.ts'
import { type PolledAnswer, PolledCall, pollingRoot } from '../submit-and-poll-call.ts'

/**
 * The error of a failed task. `status` is the HTTP status with which the error is sent to the
 * caller.
 */
type ImageTaskFailure = {
  readonly status: number
  readonly code: string
  readonly message: string
}

/**
 * An API of a provider that generates images as tasks. The first request begins a task, and the
 * following requests poll its result.
 */
export type ImageTask = {
  /** Additional headers of the request that begins a task. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * The part of the first request's path below which tasks are polled and cancelled. The path of a
   * proxy may precede this part, and is kept.
   */
  readonly root: string
  readonly queryPath: (id: string) => string
  readonly cancelPath: (id: string) => string
  /**
   * Returns the id of the task in the response to the first request. Returns an empty string if
   * there is none.
   */
  readonly idIn: (answer: JsonObject) => string
  /**
   * Returns the state of a task in a response to a poll. Returns null if the response states none.
   */
  readonly stateIn: (answer: JsonObject) => 'open' | 'done' | ImageTaskFailure | null
}

const POLL_MS = { first: 500, most: 3_000 }
const ID = /^[\w-]{1,128}$/

/**
 * Sends each call as a task, polls the task until it has ended, and returns the last answer. The
 * deadlines are those of a call that is not streamed. If a deadline or another error ends the call,
 * the task is cancelled. If the caller disconnects, the task continues, because the provider
 * charges for the images.
 */
export const imageTaskTransport = (
  task: ImageTask,
  connections: Connections,
  origin: string,
): Transport => ({
  dispatch: ({ path, headers, body }, handler) => {
    const all = headers as readonly string[]
    // These headers describe the body of the first request. The polls have no body.
    const own = withoutHeaders(all, (name) => OF_BODY.has(name))
    const call = new ImageTaskCall(task, connections, headersByName(own), handler)
    const length = headerIn(all, 'content-length')
    void call.run(origin, path, { body: body as Buffer | Readable, length })
    return true
  },
})

const OF_BODY: ReadonlySet<string> = new Set(['content-type', 'content-length'])

/**
 * The body of the request that begins a task. `body` is a stream if it contains uploaded files.
 * `length` is the value of the header `content-length`, or empty if the request has no such header.
 */
type TaskBody = { readonly body: Buffer | Readable; readonly length: string }

class ImageTaskCall extends PolledCall {
  private readonly task: ImageTask
  private cancelUrl: string | null = null

  constructor(
    task: ImageTask,
    connections: Connections,
    headers: Readonly<Record<string, string>>,
    handler: Dispatcher.DispatchHandler,
  ) {
    super(connections, headers, handler)
    this.task = task
  }

  async run(origin: string, path: string, { body, length }: TaskBody): Promise<void> {
    const control = this.controller()
    const ofLength = length === '' ? {} : { 'content-length': length }
    const { task, handler } = this
    try {
      const created = await this.send(`${origin}${path}`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...ofLength, ...task.headers },
        onStart: () => handler.onRequestStart?.(control, {}),
      })
      if (created.status < 200 || created.status > 299) return this.finish(control, created)
      const id = task.idIn(parsedObject(created.text) ?? {})
      if (!ID.test(id)) return this.finish(control, { ...created, status: 502 })
      const root = `${origin}${pollingRoot(path, task.root)}`
      this.cancelUrl = `${root}${task.cancelPath(id)}`
      this.finish(control, await this.ended(`${root}${task.queryPath(id)}`))
    } catch (error) {
      if (this.isEnded) return
      this.isEnded = true
      if (this.cancelUrl !== null) this.cancelAt(this.cancelUrl)
      handler.onResponseError?.(control, error as Error)
    }
  }

  /** Polls the task until it has ended, and returns the last answer. */
  private async ended(url: string): Promise<PolledAnswer> {
    const { signal } = this.aborter
    for (let wait = POLL_MS.first; ; wait = Math.min(wait * 2, POLL_MS.most)) {
      await delay(wait, undefined, { signal })
      const polled = await this.poll(url, (answer) => {
        const object = parsedObject(answer.text)
        const state = object === null ? null : this.task.stateIn(object)
        return state === null ? null : { answer, state }
      })
      if (polled === null || polled.state === 'open') continue
      if (polled.state === 'done') return polled.answer
      const { status, code, message } = polled.state
      return { status, text: JSON.stringify({ error: { message, code } }) }
    }
  }
}

const DASH_SCOPE_OPEN = new Set(['PENDING', 'RUNNING', 'SUSPENDED'])
/** Matches the codes of failures that the request caused. */
const UNFIT = /^(?:DataInspection|IPInfringement|InvalidParameter|InvalidURL)/

/** DashScope's tasks (help.aliyun.com/zh/model-studio/text-to-image-v2-api-reference). */
export const DASH_SCOPE_TASK: ImageTask = {
  headers: { 'x-dashscope-async': 'enable' },
  root: '/api/v1/',
  queryPath: (id) => `tasks/${id}`,
  cancelPath: (id) => `tasks/${id}/cancel`,
  idIn: ({ output }) => textOrEmpty(objectOrEmpty(output).task_id),
  stateIn: ({ output }) => {
    const { task_status: name, code: given, message } = objectOrEmpty(output)
    // DashScope answers UNKNOWN about a task that it does not know or does not know yet.
    if (typeof name !== 'string' || name === 'UNKNOWN') return null
    if (DASH_SCOPE_OPEN.has(name)) return 'open'
    if (name === 'SUCCEEDED') return 'done'
    const code = textOf(given) ?? name
    const ofLimit = code.startsWith('Throttling') ? 429 : 502
    return { status: UNFIT.test(code) ? 400 : ofLimit, code, message: textOrEmpty(message) }
  },
}

/** Replicate's predictions (replicate.com/docs/reference/http#predictions.get). */
export const PREDICTION_TASK: ImageTask = {
  headers: {},
  root: '/v1/',
  queryPath: (id) => `predictions/${id}`,
  cancelPath: (id) => `predictions/${id}/cancel`,
  idIn: ({ id }) => textOrEmpty(id),
  stateIn: ({ status, error }) => {
    if (typeof status !== 'string') return null
    if (status === 'starting' || status === 'processing') return 'open'
    if (status === 'succeeded') return 'done'
    return { status: 502, code: status, message: textOrEmpty(error) }
  },
}
