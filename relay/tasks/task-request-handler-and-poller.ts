import type { TaskKind } from '#domain/tasks/events.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { createOutbound, MANAGEMENT_LIMITS } from '#infra/outbound/outbound-connections.ts'
import { operatorPolicy } from '#infra/outbound/outbound-policy.ts'
import { createTaskProgress, type TaskProgress } from '#infra/task-progress/store-task-progress.ts'
import { FailedKeys } from '#relay/limits/block-key-guessing.ts'
import type { BodyMemoryShare } from '#relay/limits/body-memory.ts'
import { authenticate, type Caller } from '#relay/pipeline/authenticate.ts'
import { currentCaller } from '#relay/pipeline/current-caller.ts'
import { errorOfException, isStoreUnavailable } from '#relay/pipeline/error-of-exception.ts'
import type { Exchange } from '#relay/pipeline/http-exchange.ts'
import { withCopiesOfBody } from '#relay/pipeline/memory-of-body-copies.ts'
import { readBody } from '#relay/pipeline/read-body.ts'
import type { RelayDeps } from '#relay/pipeline/relay-deps.ts'
import { rejectUnreadRequest } from '#relay/pipeline/send-error-before-body-is-read.ts'
import { bodyShareOf } from '#relay/pipeline/user-share-of-body-memory.ts'
import { isRelayError, relayError } from '../canonical/relay-error.ts'
import { AcceptedTaskWriter } from './accepted-task-writer.ts'
import { POLL_PERMITS } from './channel-key-poller.ts'
import { handleCallback } from './handle-callback.ts'
import { Permits } from './limit-concurrent-work.ts'
import { FileAddressLookups } from './look-up-expired-file-addresses.ts'
import { fetchTask, fetchTasks, imageSeed } from './look-up-tasks.ts'
import { type FindOpenTasks, startPoller } from './poll-tasks.ts'
import type { PollTimes } from './poll-times.ts'
import { DRAWING_NAMES, readDrawing } from './read-drawing-request.ts'
import { MUSIC_NAMES, readMusic } from './read-music-request.ts'
import { TaskBody, TaskRequestError } from './read-task-request-body.ts'
import { TASK_LIMITS } from './send-request-to-task-provider.ts'
import { sendTaskError } from './send-task-errors-and-acceptance.ts'
import { PICTURE_PERMITS, serveDrawingFile, VIDEO_PERMITS } from './serve-drawing-file.ts'
import { submitTask } from './submit-task.ts'
import type { FindRecentTasks, TaskDeps } from './task-deps.ts'
import { TaskLedger } from './task-ledger.ts'
import { kindOf, type TaskRoute, taskRoute } from './task-routes.ts'
import {
  handleVideoRequestWithoutBody,
  handleVideoResultRequest,
  readVideoTask,
  recentTasksIn,
  serveLinkedVideo,
} from './videos/handle-video-requests.ts'
import { JIMENG_NAMES } from './videos/jimeng-format-of-callers.ts'
import {
  isMultipart,
  jsonOfMultipart,
  MULTIPART,
} from './videos/multipart-video-request-to-json.ts'
import { VIDEO_NAMES } from './videos/read-video-request.ts'

export type TaskOverrides = {
  readonly findOpenTasks?: FindOpenTasks | undefined
  readonly progress?: TaskProgress | undefined
  readonly pollTimes?: PollTimes | undefined
  readonly findRecentTasks?: FindRecentTasks | undefined
}

export type Tasks = {
  /**
   * Handles a request to the task API. Resolves once the response is sent. Rejects only if there is
   * a bug.
   */
  readonly handle: (exchange: Exchange) => Promise<void>
  readonly stop: () => Promise<void>
}

/**
 * Creates the handler of requests to the task API and starts the poller, which asks providers about
 * unfinished tasks.
 */
export async function startTasks(
  core: Core,
  relayDeps: RelayDeps,
  overrides: TaskOverrides,
): Promise<Tasks> {
  const providerOutbound = createOutbound(operatorPolicy(core.config), TASK_LIMITS)
  const ofAnySize = { ...MANAGEMENT_LIMITS, maxResponseBytes: -1 }
  const pictureOutbound = createOutbound(operatorPolicy(core.config), ofAnySize)
  const progress = overrides.progress ?? (await createTaskProgress(core.pg))
  const ledger = new TaskLedger(relayDeps)
  const acceptedTasks = new AcceptedTaskWriter({ ...relayDeps, ledger })
  const guesses = new FailedKeys(relayDeps.limits, relayDeps.vault, 'unknown-tasks')
  const permits = {
    picturePermits: new Permits(PICTURE_PERMITS),
    videoPermits: new Permits(VIDEO_PERMITS),
    pollPermits: new Permits(POLL_PERMITS),
  }
  const fileLookups = new FileAddressLookups(relayDeps)
  const looking = { guesses, ...permits, pictureOutbound, fileLookups }
  const deps: TaskDeps = {
    ...relayDeps,
    ...looking,
    ledger,
    acceptedTasks,
    providerOutbound,
    progress,
    findRecentTasks: overrides.findRecentTasks ?? recentTasksIn(core.db),
  }
  const { findOpenTasks: find, pollTimes: times } = overrides
  const poller = startPoller(core, deps, { find, times })
  return {
    handle: (exchange) => handle(deps, exchange),
    stop: async () => {
      await poller.stop()
      await acceptedTasks.stop()
      await Promise.all([providerOutbound.close(), pictureOutbound.close()])
    },
  }
}

async function handle(deps: TaskDeps, exchange: Exchange): Promise<void> {
  const { method = '', url = '' } = exchange.request
  const route = taskRoute(method, url)
  const kind = kindOf(url)
  try {
    if (isRelayError(route)) return sendTaskError(exchange, kind, route)
    await dispatch(deps, exchange, kind, route)
  } catch (error) {
    if (error instanceof TaskRequestError) return sendTaskError(exchange, kind, error.error)
    if (!isStoreUnavailable(error)) throw error
    sendTaskError(exchange, kind, errorOfException(deps.log, exchange.call, error))
  }
}

const NAMES = { drawing: DRAWING_NAMES, music: MUSIC_NAMES, video: VIDEO_NAMES }

type VideoRead = Extract<
  TaskRoute,
  { readonly kind: 'video'; readonly name: 'fetch' | 'list' | 'content' | 'delete' }
>

const isVideoRead = (route: TaskRoute): route is VideoRead =>
  'kind' in route && !['submit', 'remix', 'result'].includes(route.name)

async function dispatch(
  deps: TaskDeps,
  exchange: Exchange,
  kind: TaskKind,
  route: TaskRoute,
): Promise<void> {
  if (route.name === 'image') return serveDrawingFile(deps, exchange, route)
  if (route.name === 'notify') {
    return handleCallback(deps, exchange, route, (work) =>
      withBody(deps, exchange, kind, null, work),
    )
  }
  if (route.name === 'content' && (await serveLinkedVideo(deps, exchange, route.id))) return
  const { request, clientIp, startedAt } = exchange
  const caller = await authenticate(deps, request, clientIp, startedAt)
  if (isRelayError(caller)) return sendTaskError(exchange, kind, caller)
  if (!isKindEnabled(deps, kind)) return sendTaskError(exchange, kind, relayError('tasks_off'))
  if (isVideoRead(route)) return handleVideoRequestWithoutBody(deps, exchange, caller, route)
  if (route.name === 'fetch') return fetchTask(deps, exchange, caller, { kind, id: route.id })
  if (route.name === 'seed') return imageSeed(deps, exchange, caller, route.id)
  const isJimeng = 'style' in route && route.style === 'jimeng'
  const names = isJimeng ? JIMENG_NAMES : NAMES[kind]
  const owner = await bodyShareOf(deps, caller.user.userId, request)
  const type = request.headers['content-type'] ?? ''
  const isForm = route.name === 'submit' && isMultipart(type)
  const work = async (bytes: Buffer) => {
    const current = await currentCaller(deps, caller, exchange)
    if (isRelayError(current)) throw new TaskRequestError(current)
    const bodyOf = async () => (isForm ? await jsonOfMultipart(bytes, type) : bytes)
    const handled = async () =>
      handleWithBody(deps, exchange, current, {
        ...{ kind, route },
        body: new TaskBody(await bodyOf(), names),
      })
    if (route.name === 'list' || route.name === 'result') return handled()
    return withCopy(deps, owner, bytes.length * (kind === 'video' ? VIDEO_COPIES : 1), handled)
  }
  await withBody(deps, exchange, kind, owner, work, isForm ? MULTIPART : undefined)
}

/**
 * The memory that a video request needs, as a multiple of its length. The memory holds the texts,
 * the pictures and the body for the vendor.
 */
const VIDEO_COPIES = 3

/**
 * Reserves memory for copies of the body, which is changed for the provider, and runs `work`.
 * Throws an error for the caller if too little memory is left.
 */
async function withCopy(
  { bodyMemory }: TaskDeps,
  owner: BodyMemoryShare,
  bytes: number,
  work: () => Promise<void>,
): Promise<void> {
  const error = await withCopiesOfBody(bodyMemory, owner, bytes, work)
  if (error !== null) throw new TaskRequestError(error)
}

type BodyRequest = {
  readonly kind: TaskKind
  readonly route: Extract<
    TaskRoute,
    { readonly name: 'list' | 'draw' | 'compose' | 'submit' | 'remix' | 'result' }
  >
  readonly body: TaskBody
}

async function handleWithBody(
  deps: TaskDeps,
  exchange: Exchange,
  caller: Caller,
  { kind, route, body }: BodyRequest,
): Promise<void> {
  if (route.name === 'submit' || route.name === 'remix') {
    const request = await readVideoTask(deps, caller, route, body)
    return submitTask(deps, exchange, caller, request)
  }
  if (route.name === 'result') return handleVideoResultRequest(deps, exchange, caller, body)
  if (route.name === 'list') return fetchTasks(deps, exchange, caller, { kind, body })
  if (route.name === 'compose') {
    return submitTask(deps, exchange, caller, readMusic(route.action, body))
  }
  const { path, mode, reader } = route
  const options = deps.views.options.options.tasks
  const request = readDrawing(path, reader, body, { mode, options })
  return submitTask(deps, exchange, caller, request)
}

const isKindEnabled = ({ views }: TaskDeps, kind: TaskKind): boolean => {
  // Videos need no setting. They are available once a channel for videos exists.
  if (kind === 'video') return true
  const { isDrawingOn, isMusicOn } = views.options.options.tasks
  return kind === 'drawing' ? isDrawingOn : isMusicOn
}

/**
 * Reads the body of the request and runs `work` with it. While `work` runs, memory for the body is
 * reserved and counts towards the memory limit of `owner`. If `owner` is null, as for a provider's
 * callback, the memory counts towards the limit of no user.
 */
async function withBody(
  deps: TaskDeps,
  exchange: Exchange,
  kind: TaskKind,
  owner: BodyMemoryShare | null,
  work: (body: Buffer) => Promise<void>,
  mediaType?: RegExp,
): Promise<void> {
  const body = await readBody(exchange.request, deps.bodyMemory, owner, mediaType)
  if (isRelayError(body)) {
    return rejectUnreadRequest(exchange, body, (to, error, end) =>
      sendTaskError(to, kind, error, end),
    )
  }
  try {
    await work(body)
  } finally {
    deps.bodyMemory.giveBack(body.length)
    if (owner !== null) deps.bodyMemory.release(owner, body.length)
  }
}
