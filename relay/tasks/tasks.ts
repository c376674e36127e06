import type { TaskKind } from '#domain/task/events.ts'
import type { Core } from '#infra/core.ts'
import { StoreUnavailable } from '#infra/event-store/port.ts'
import { createOutbound, MANAGEMENT_LIMITS } from '#infra/outbound/dispatcher.ts'
import { operatorPolicy, userPolicy } from '#infra/outbound/guard.ts'
import { createProgress, type Progress } from '#infra/progress/progress.ts'
import { warnThrottled } from '#infra/telemetry/log.ts'
import type { BodyOwner } from '#relay/limits/body-memory.ts'
import { FailedKeys } from '#relay/limits/failed-keys.ts'
import { authenticate, type Caller } from '#relay/pipeline/authenticate.ts'
import { bodyOwnerOf } from '#relay/pipeline/body-owner.ts'
import type { Exchange } from '#relay/pipeline/exchange.ts'
import { readBody } from '#relay/pipeline/read-body.ts'
import type { RelayDeps } from '#relay/pipeline/relay-deps.ts'
import { isRelayError, relayError } from '../canonical/relay-error.ts'
import { Acceptances } from './acceptances.ts'
import { TASK_LIMITS } from './ask-upstream.ts'
import { DRAWING_NAMES, readDrawing } from './drawing-requests.ts'
import { fetchTask, fetchTasks, imageSeed } from './fetch-tasks.ts'
import { MUSIC_NAMES, readMusic } from './music-requests.ts'
import { takeNotice } from './notify.ts'
import { Permits } from './permits.ts'
import { POLL_PERMITS } from './poll-lane.ts'
import { type FindOpenTasks, type PollTimes, startPoller } from './poll-tasks.ts'
import { PICTURE_PERMITS, showImage } from './show-image.ts'
import { submitTask } from './submit-task.ts'
import { sendTaskError } from './task-answers.ts'
import { Refused, TaskBody } from './task-body.ts'
import type { TaskDeps } from './task-deps.ts'
import { TaskLedger } from './task-ledger.ts'
import { kindOf, type TaskRoute, taskRoute } from './task-routes.ts'

/** Seams for tests. */
export type TaskOverrides = {
  readonly findOpenTasks?: FindOpenTasks | undefined
  readonly progress?: Progress | undefined
  readonly pollTimes?: PollTimes | undefined
}

export type Tasks = {
  /** Resolves once it is answered. Rejects for a bug of ours. */
  readonly handle: (exchange: Exchange) => Promise<void>
  readonly stop: () => Promise<void>
}

/** Drawing and music tasks: their paths, and who asks after them. */
export async function startTasks(
  core: Core,
  relayParts: RelayDeps,
  overrides: TaskOverrides,
): Promise<Tasks> {
  const side = createOutbound(operatorPolicy(core.config), TASK_LIMITS)
  const ofAnySize = { ...MANAGEMENT_LIMITS, maxResponseBytes: -1 }
  const elsewhere = createOutbound(userPolicy, ofAnySize)
  const pictures = createOutbound(operatorPolicy(core.config), ofAnySize)
  const progress = overrides.progress ?? (await createProgress(core.pg))
  const ledger = new TaskLedger(relayParts)
  const acceptances = new Acceptances({ ...relayParts, ledger })
  const guesses = new FailedKeys(relayParts.limits, relayParts.vault, 'unknown-tasks')
  const permits = {
    picturePermits: new Permits(PICTURE_PERMITS),
    pollPermits: new Permits(POLL_PERMITS),
  }
  const looking = { guesses, ...permits, pictures, elsewhere }
  const parts: TaskDeps = { ...relayParts, ...looking, ledger, acceptances, side, progress }
  const { findOpenTasks: find, pollTimes: times } = overrides
  const poller = startPoller(core, parts, { find, times })
  return {
    handle: (exchange) => handle(parts, exchange),
    stop: async () => {
      await poller.stop()
      await acceptances.stop()
      await Promise.all([side, elsewhere, pictures].map((outbound) => outbound.close()))
    },
  }
}

async function handle(parts: TaskDeps, exchange: Exchange): Promise<void> {
  const { method = '', url = '' } = exchange.request
  const route = taskRoute(method, url)
  const kind = kindOf(url)
  try {
    if (isRelayError(route)) return sendTaskError(exchange, kind, route)
    await carryOut(parts, exchange, kind, route)
  } catch (error) {
    if (error instanceof Refused) return sendTaskError(exchange, kind, error.error)
    if (!(error instanceof StoreUnavailable)) throw error
    warnThrottled(parts.log, { reason: error.message }, 'tasks can not be written down')
    sendTaskError(exchange, kind, relayError('store_unavailable', { retryAfter: 5 }))
  }
}

async function carryOut(
  parts: TaskDeps,
  exchange: Exchange,
  kind: TaskKind,
  route: TaskRoute,
): Promise<void> {
  if (route.act === 'image') return showImage(parts, exchange, route.id)
  if (route.act === 'notify') {
    return takeNotice(parts, exchange, route, (work) => withBody(parts, exchange, kind, null, work))
  }
  const { request, clientIp, startedAt } = exchange
  const caller = await authenticate(parts, request, clientIp, startedAt)
  if (isRelayError(caller)) return sendTaskError(exchange, kind, caller)
  if (!isOn(parts, kind)) return sendTaskError(exchange, kind, relayError('tasks_off'))
  if (route.act === 'fetch') return fetchTask(parts, exchange, caller, { kind, id: route.id })
  if (route.act === 'seed') return imageSeed(parts, exchange, caller, route.id)
  const names = kind === 'drawing' ? DRAWING_NAMES : MUSIC_NAMES
  const owner = await bodyOwnerOf(parts, caller.user.userId, request)
  await withBody(parts, exchange, kind, owner, (bytes) => {
    const body = () => new TaskBody(bytes, names)
    const work = () => bodied(parts, exchange, caller, { kind, route, body: body() })
    return route.act === 'list' ? work() : withCopy(parts, bytes.length, work)
  })
}

/** What is sent to a provider is a changed copy: it is counted beside what came. */
async function withCopy(
  { bodies }: TaskDeps,
  bytes: number,
  work: () => Promise<void>,
): Promise<void> {
  if (!bodies.take(bytes)) throw new Refused(relayError('overloaded', { retryAfter: 2 }))
  try {
    await work()
  } finally {
    bodies.giveBack(bytes)
  }
}

type Bodied = {
  readonly kind: TaskKind
  readonly route: Extract<TaskRoute, { readonly act: 'list' | 'draw' | 'compose' }>
  readonly body: TaskBody
}

function bodied(
  parts: TaskDeps,
  exchange: Exchange,
  caller: Caller,
  { kind, route, body }: Bodied,
): Promise<void> {
  if (route.act === 'list') return fetchTasks(parts, exchange, caller, { kind, body })
  if (route.act === 'compose') {
    return submitTask(parts, exchange, caller, readMusic(route.action, body))
  }
  const { path, mode, reader } = route
  const options = parts.views.options.options.tasks
  const request = readDrawing(path, reader, body, { mode, options })
  return submitTask(parts, exchange, caller, request)
}

const isOn = ({ views }: TaskDeps, kind: TaskKind): boolean => {
  const { isDrawingOn, isMusicOn } = views.options.options.tasks
  return kind === 'drawing' ? isDrawingOn : isMusicOn
}

/** Reads the body, and holds its memory while `work` runs; a notice of a provider has no owner. */
async function withBody(
  parts: TaskDeps,
  exchange: Exchange,
  kind: TaskKind,
  owner: BodyOwner | null,
  work: (body: Buffer) => Promise<void>,
): Promise<void> {
  const body = await readBody(exchange.request, parts.bodies, owner)
  if (isRelayError(body)) return sendTaskError(exchange, kind, body)
  try {
    await work(body)
  } finally {
    parts.bodies.giveBack(body.length)
    if (owner !== null) parts.bodies.release(owner, body.length)
  }
}
