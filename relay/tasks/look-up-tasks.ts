import { offerOf } from '#domain/routing/channels-by-group-and-model.ts'
import type { TaskLocation, TaskRecord } from '#domain/tasks/decide.ts'
import type { TaskKind } from '#domain/tasks/events.ts'
import { type Claim, isFull, type Limits, type Permit } from '#infra/limits/port.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import { ChannelSelector } from '../pipeline/channel-selector.ts'
import { type Exchange, sendJson } from '../pipeline/http-exchange.ts'
import { noUsableChannelError } from '../pipeline/try-channels-in-order.ts'
import { runInParallel } from '../run-in-parallel.ts'
import { keysOfSubmitted, sendWithKeys } from '../views/submission-checks-and-key-retries.ts'
import { boundedTextOf, parsedShallowObject } from './parse-provider-json.ts'
import { rejectParam, type TaskBody } from './read-task-request-body.ts'
import { drawingAnswer, musicAnswer } from './render-task-json.ts'
import { sendTaskRequest } from './send-request-to-task-provider.ts'
import { sendTaskError } from './send-task-errors-and-acceptance.ts'
import type { TaskDeps } from './task-deps.ts'

const TASK_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

/**
 * Reports whether the text has the form of a task id. Callers check the form first, so that they
 * read the event store only for task ids.
 */
export const isTaskId = (id: string): boolean => TASK_ID.test(id)

/**
 * Returns the task with this id and kind. Returns null if the caller's user has no such task, or if
 * the task was deleted.
 */
export async function findOwnTask(
  { ledger }: Pick<TaskDeps, 'ledger'>,
  { user }: Caller,
  kind: TaskKind,
  id: string,
): Promise<TaskRecord | null> {
  const record = isTaskId(id) ? await ledger.peek(id) : null
  if (record === null || record.deletedAt !== undefined) return null
  const { userId, kind: own } = record.submitted
  return userId === user.userId && own === kind ? record : null
}

/** The maximum number of tasks that one user may look up per minute (a hundred per second). */
const TASKS_MAX = 6_000
const SEEDS_MAX = 30
const AT_ONCE_MAX = 32
const MINUTE_MS = 60_000

/**
 * Reports whether the user of a task is neither disabled nor deleted. Links to the files of other
 * users must not work, although they need no key.
 */
export const isOwnerEnabled = (
  { views }: Pick<TaskDeps, 'views'>,
  { submitted: { userId } }: TaskRecord,
): boolean => views.users.find(userId)?.isEnabled === true

/**
 * Acquires a permit for a look-up of tasks. Returns an error if the user has reached a limit of
 * look-ups. All relays count look-ups together. Look-ups are free of charge, and the limits of
 * calls do not apply to them. `asksProvider` is true if the look-up sends a request to a provider,
 * at the operator's expense.
 */
async function acquireLookupPermit(
  { limits }: { readonly limits: Limits },
  { user: { userId } }: Pick<Caller, 'user'>,
  { tasks, asksProvider }: { readonly tasks: number; readonly asksProvider: boolean },
): Promise<Permit | RelayError> {
  const key = `task-looks:${userId}`
  const claims: readonly Claim[] = [
    { kind: 'permits', key, max: AT_ONCE_MAX },
    asksProvider
      ? { kind: 'rate', key, max: SEEDS_MAX, periodMs: MINUTE_MS, isRefundable: false }
      : { kind: 'tokens', key, max: TASKS_MAX, estimate: tasks },
  ]
  const outcome = await limits.enter(`user:${userId}`, claims)
  if (!isFull(outcome)) return outcome
  const retryAfter = Math.max(1, Math.ceil(outcome.waitMs / 1_000))
  if (outcome.full === 0) {
    return relayError('too_many_concurrent', { subject: `${AT_ONCE_MAX} (this user)`, retryAfter })
  }
  const subject = asksProvider
    ? `${SEEDS_MAX} requests to providers / 60 s`
    : `${TASKS_MAX} tasks / 60 s`
  return relayError('rate_limited', { subject: `${subject} (this user)`, retryAfter })
}

const HOST = /^[\w.-]{1,255}(?::\d{1,5})?$|^\[[\da-fA-F:]{2,45}\](?::\d{1,5})?$/

/**
 * Returns the base URL of this site for links in a response. If no URL is configured, it is made
 * from the `Host` header of the request. This is safe, because only this caller receives the
 * response. Returns an empty text if this header is not valid.
 */
export function siteAddress({ views }: Pick<TaskDeps, 'views'>, { request }: Exchange): string {
  const { serverAddress } = views.options.options.tasks
  const host = request.headers.host ?? ''
  if (serverAddress !== '' || !HOST.test(host)) return serverAddress
  const isSecure = 'encrypted' in request.socket || request.headers['x-forwarded-proto'] === 'https'
  return `${isSecure ? 'https' : 'http'}://${host}`
}

const IDS_MAX = 100
const READ_AT_ONCE = 8
const NEVER = new AbortController().signal

export async function withinLookupLimits(
  deps: TaskDeps,
  exchange: Exchange,
  caller: Caller,
  kind: TaskKind,
  cost: { readonly tasks: number; readonly asksProvider: boolean },
  work: () => Promise<void>,
): Promise<void> {
  const permit = await acquireLookupPermit(deps, caller, cost)
  if (isRelayError(permit)) return sendTaskError(exchange, kind, permit)
  try {
    await work()
  } finally {
    permit.release({ isRefunded: false })
  }
}

async function renderTasks(
  deps: TaskDeps,
  exchange: Exchange,
  kind: TaskKind,
  tasks: readonly TaskRecord[],
): Promise<object[]> {
  const ids = tasks.map(({ submitted }) => submitted.task)
  const progress = await deps.progress.read(ids).catch(() => new Map<string, string>())
  const showing = { language: exchange.language, progress, address: siteAddress(deps, exchange) }
  const answer = kind === 'drawing' ? drawingAnswer : musicAnswer
  return Promise.all(tasks.map((record) => answer(deps, record, showing)))
}

/** Serves `GET /mj/task/{id}/fetch` and `GET /suno/fetch/{id}`. */
export async function fetchTask(
  deps: TaskDeps,
  exchange: Exchange,
  caller: Caller,
  { kind, id }: { readonly kind: TaskKind; readonly id: string },
): Promise<void> {
  await withinLookupLimits(
    deps,
    exchange,
    caller,
    kind,
    { tasks: 1, asksProvider: false },
    async () => {
      const record = await findOwnTask(deps, caller, kind, id)
      if (record === null) return notFound(exchange, kind, id)
      const [answer = {}] = await renderTasks(deps, exchange, kind, [record])
      sendJson(exchange, 200, kind === 'drawing' ? answer : inMusicEnvelope(answer))
    },
  )
}

/**
 * Serves `POST /mj/task/list-by-condition` and `POST /suno/fetch`. The response contains those of
 * the requested tasks that the caller's user has.
 */
export async function fetchTasks(
  deps: TaskDeps,
  exchange: Exchange,
  caller: Caller,
  { kind, body }: { readonly kind: TaskKind; readonly body: TaskBody },
): Promise<void> {
  const ids = body.texts('ids', IDS_MAX) ?? rejectParam('ids', true)
  const distinct = [...new Set(ids)]
  const cost = { tasks: distinct.length, asksProvider: false }
  await withinLookupLimits(deps, exchange, caller, kind, cost, async () => {
    const found = new Map<string, TaskRecord>()
    await runInParallel(distinct, READ_AT_ONCE, NEVER, async (id) => {
      const record = await findOwnTask(deps, caller, kind, id)
      if (record !== null) found.set(id, record)
    })
    const inOrder = distinct.flatMap((id) => found.get(id) ?? [])
    const answers = await renderTasks(deps, exchange, kind, inOrder)
    sendJson(exchange, 200, kind === 'drawing' ? answers : inMusicEnvelope(answers))
  })
}

const inMusicEnvelope = (data: object) => ({ code: 'success', message: '', data })

/**
 * Serves `GET /mj/task/{id}/image-seed`. The seed is not stored, so every request asks the
 * provider.
 */
export async function imageSeed(
  deps: TaskDeps,
  exchange: Exchange,
  caller: Caller,
  id: string,
): Promise<void> {
  await withinLookupLimits(
    deps,
    exchange,
    caller,
    'drawing',
    { tasks: 1, asksProvider: true },
    async () => {
      const record = await findOwnTask(deps, caller, 'drawing', id)
      const place = record?.place
      if (!place) return notFound(exchange, 'drawing', id)
      const answer = await seedOf(deps, record.submitted, place)
      if (isRelayError(answer)) return sendTaskError(exchange, 'drawing', answer)
      sendJson(exchange, 200, answer)
    },
  )
}

/**
 * Requests the seed of a drawing from its provider. Returns the provider's response for the caller,
 * or an error. The request counts towards the limits of the channel.
 */
async function seedOf(
  deps: TaskDeps,
  { task, model }: TaskRecord['submitted'],
  { channelId, keyRef, upstreamId }: TaskLocation,
): Promise<object | RelayError> {
  const channel = deps.views.channels.find(channelId)
  const keys = keysOfSubmitted(deps.views.channels, { channelId, keyRef })
  if (channel === undefined) return relayError('channel_deleted', { subject: task })
  const selector = new ChannelSelector(deps, offerOf([channel]), model, true)
  if ((await selector.next()) === null) return noUsableChannelError(selector, model)
  const path = `/mj/task/${encodeURIComponent(upstreamId)}/image-seed`
  const request = { method: 'GET', path } as const
  const end = await sendWithKeys(keys, ({ target }) =>
    sendTaskRequest(deps.providerOutbound, target, request),
  )
  selector.end(false)
  const answer = end?.kind === 'plain' ? parsedShallowObject(end.body) : null
  if (answer === null) return relayError('upstream_error')
  const code = Number.isInteger(answer.code) ? (answer.code as number) : 1
  const description = code === 1 ? '' : 'no seed'
  return { code, description, result: boundedTextOf(answer.result, 64) ?? '' }
}

const notFound = (exchange: Exchange, kind: TaskKind, id: string): void =>
  sendTaskError(exchange, kind, relayError('task_not_found', { subject: id.slice(0, 64) }))
