import type { TaskRecord } from '#domain/tasks/decide.ts'
import { checkLink } from '#infra/http/signed-video-links.ts'
import { recentTasks } from '#projections/tasks/query.ts'
import type { Caller } from '#relay/pipeline/authenticate.ts'
import { type Exchange, queryIn, sendJson } from '#relay/pipeline/http-exchange.ts'
import { limitIn } from '#relay/pipeline/read-page-limit.ts'
import { notOneOf, relayError } from '../../canonical/relay-error.ts'
import {
  findOwnTask,
  isOwnerEnabled,
  isTaskId,
  siteAddress,
  withinLookupLimits,
} from '../look-up-tasks.ts'
import type { TaskRequest } from '../plan-task.ts'
import { type TaskBody, TaskRequestError } from '../read-task-request-body.ts'
import type { FindRecentTasks, TaskDeps } from '../task-deps.ts'
import { deleteAtVendor } from './delete-video-at-vendor.ts'
import { readRemix, readVideo } from './read-video-request.ts'
import { videoAnswer } from './render-video-json.ts'
import { serveVideoFile } from './serve-video-file.ts'
import { type VideoRoute, type VideoStyle, videoStyleOf } from './video-routes.ts'
import type { VideoAction } from './video-vendor.ts'

const unknown = (id: string): never => {
  throw new TaskRequestError(relayError('task_not_found', { subject: id.slice(0, 64) }))
}

/**
 * Reads a request that submits a video or a remix, which is a new version of a video. Throws
 * `TaskRequestError` if the request is invalid, or if the original of a remix is not a finished
 * Sora video of the caller.
 */
export async function readVideoTask(
  deps: TaskDeps,
  caller: Caller,
  route: Extract<VideoRoute, { readonly name: 'submit' | 'remix' }>,
  body: TaskBody,
): Promise<TaskRequest> {
  if (route.name === 'submit') return readVideo(route, body)
  const origin = await findOwnTask(deps, caller, 'video', route.id)
  if (origin === null || origin.submitted.platform !== 'sora') return unknown(route.id)
  if (origin.status !== 'SUCCESS') {
    throw new TaskRequestError(relayError('task_not_finished', { subject: route.id }))
  }
  return readRemix(origin, body)
}

/**
 * Serves the file of a video if the URL of the request is a signed link, which needs no key. Throws
 * `TaskRequestError` for an expired link, before the task is read. Returns false, and sends
 * nothing, if the signature is missing or invalid, if there is no such video, or if its user is
 * disabled or deleted.
 */
export async function serveLinkedVideo(
  deps: TaskDeps,
  exchange: Exchange,
  id: string,
): Promise<boolean> {
  const query = queryIn(exchange.request.url)
  const link = isTaskId(id) ? checkLink(deps, id, query) : 'invalid'
  if (link === 'invalid') return false
  if (link === 'expired') throw new TaskRequestError(relayError('video_link_expired'))
  const record = await deps.ledger.peek(id)
  if (record?.submitted.kind !== 'video' || record.deletedAt !== undefined) return false
  if (!isOwnerEnabled(deps, record)) return false
  await serveVideoFile(deps, exchange, record, null)
  return true
}

/**
 * Handles the requests about videos that have no body. Such a request shows a video, lists the
 * caller's videos, downloads the file of a video or deletes a video.
 */
export async function handleVideoRequestWithoutBody(
  deps: TaskDeps,
  exchange: Exchange,
  caller: Caller,
  route: Extract<VideoRoute, { readonly name: 'fetch' | 'list' | 'content' | 'delete' }>,
): Promise<void> {
  if (route.name === 'content') return serveOwnVideo(deps, exchange, caller, route.id)
  if (route.name === 'list' && route.action !== null) {
    return listKlingVideos(deps, exchange, caller, route.action)
  }
  const limit = route.name === 'list' ? numberIn(exchange, 'limit', PAGE) : 1
  const cost = { tasks: limit, asksProvider: route.name === 'delete' }
  await withinLookupLimits(deps, exchange, caller, 'video', cost, async () => {
    if (route.name === 'list') return listVideos(deps, exchange, caller, limit)
    const record = (await findOwnTask(deps, caller, 'video', route.id)) ?? unknown(route.id)
    if (route.name === 'delete') return deleteVideo(deps, exchange, record)
    const [answer = {}] = await render(deps, exchange, route.style, [record])
    sendJson(exchange, 200, answer)
  })
}

/** Shows a video that the body of the request names, as in Jimeng's API. */
export async function handleVideoResultRequest(
  deps: TaskDeps,
  exchange: Exchange,
  caller: Caller,
  body: TaskBody,
): Promise<void> {
  const id = body.requireText('task_id')
  const route = { kind: 'video', style: 'jimeng', name: 'fetch', id } as const
  await handleVideoRequestWithoutBody(deps, exchange, caller, route)
}

/**
 * Serves the file of one of the caller's videos. The permit of the look-up is released before the
 * file is sent, so that long downloads don't block the caller's other look-ups.
 */
async function serveOwnVideo(
  deps: TaskDeps,
  exchange: Exchange,
  caller: Caller,
  id: string,
): Promise<void> {
  const found: TaskRecord[] = []
  const cost = { tasks: 1, asksProvider: false }
  await withinLookupLimits(deps, exchange, caller, 'video', cost, async () => {
    found.push((await findOwnTask(deps, caller, 'video', id)) ?? unknown(id))
  })
  const [record] = found
  if (record !== undefined) await serveVideoFile(deps, exchange, record, caller)
}

/**
 * Deletes a video that has ended, also at its vendor if the vendor offers this. A video in progress
 * can't be deleted, because its provider charges for it. If the vendor does not answer, nothing is
 * deleted, so that the caller can try again.
 */
async function deleteVideo(deps: TaskDeps, exchange: Exchange, record: TaskRecord) {
  const id = record.submitted.task
  if (record.end === null)
    throw new TaskRequestError(relayError('video_not_ready', { subject: id }))
  if (!(await deleteAtVendor(deps, record))) {
    throw new TaskRequestError(relayError('upstream_error'))
  }
  await deps.ledger.delete(id)
  sendJson(exchange, 200, { id, object: 'video.deleted', deleted: true })
}

async function render(
  deps: TaskDeps,
  exchange: Exchange,
  style: VideoStyle,
  records: readonly TaskRecord[],
): Promise<object[]> {
  const ids = records.map(({ submitted }) => submitted.task)
  const progress = await deps.progress.read(ids).catch(() => new Map<string, string>())
  const address = siteAddress(deps, exchange)
  const { language } = exchange
  return Promise.all(
    records.map((record) => {
      const showing = { style, language, address, progress: progress.get(record.submitted.task) }
      return videoAnswer(deps, record, showing)
    }),
  )
}

/** Sends the response for an accepted video, in the format of the caller's request. */
export async function sendVideoAccepted(
  deps: TaskDeps,
  exchange: Exchange,
  record: TaskRecord,
): Promise<void> {
  const style = videoStyleOf(exchange.request.url ?? '')
  const [answer = {}] = await render(deps, exchange, style, [record])
  sendJson(exchange, 200, answer)
}

const PAGE = { usual: 20, most: 100 }

/** Reads a number from the query. Throws `TaskRequestError` if it is not in the range. */
function numberIn(
  exchange: Exchange,
  name: string,
  range: { readonly usual: number; readonly most: number },
): number {
  const number = limitIn(queryIn(exchange.request.url), range, name)
  if (typeof number === 'number') return number
  throw new TaskRequestError(number)
}

/**
 * Reports whether the query parameter `order` asks for the oldest videos first. Throws
 * `TaskRequestError` for an unknown order.
 */
function isOldestFirst(query: URLSearchParams): boolean {
  const order = query.get('order') ?? 'desc'
  if (order === 'asc' || order === 'desc') return order === 'asc'
  throw new TaskRequestError(notOneOf('order', ['asc', 'desc']))
}

/**
 * Serves `GET /v1/videos`, which lists the caller's videos, newest first unless `order` is `asc`.
 * The query parameter `after` is the last id of the previous page.
 */
async function listVideos(
  deps: TaskDeps,
  exchange: Exchange,
  { user: { userId } }: Caller,
  limit: number,
): Promise<void> {
  const query = queryIn(exchange.request.url)
  const after = query.get('after')
  if (after !== null && !isTaskId(after)) unknown(after)
  const order = { after, isOldestFirst: isOldestFirst(query) }
  const { shown, isLast } = await findVideos(deps, { userId, ...order, limit: limit + 1 })
  const page = shown.slice(0, limit)
  const data = await render(deps, exchange, 'openai', page)
  const [first, last] = [page[0], page.at(-1)]
  const ends = {
    first_id: first?.submitted.task ?? null,
    last_id: last?.submitted.task ?? null,
    has_more: page.length > 0 && (shown.length > limit || !isLast),
  }
  sendJson(exchange, 200, { object: 'list', data, ...ends })
}

/** The first page and the usual length of a page in Kling's API. */
const KLING_PAGE_NUMBER = { usual: 1, most: 1_000 }
const KLING_PAGE = { usual: 30, most: PAGE.most }

/**
 * Serves `GET /kling/v1/videos/text2video` and `…/image2video`, which list the caller's videos with
 * this action, newest first. The query parameters `pageNum` and `pageSize` select a page.
 */
async function listKlingVideos(
  deps: TaskDeps,
  exchange: Exchange,
  caller: Caller,
  action: VideoAction,
): Promise<void> {
  const limit = numberIn(exchange, 'pageSize', KLING_PAGE)
  const offset = (numberIn(exchange, 'pageNum', KLING_PAGE_NUMBER) - 1) * limit
  const { userId } = caller.user
  const range = { after: null, limit, offset, isOldestFirst: false, action }
  const cost = { tasks: limit, asksProvider: false }
  await withinLookupLimits(deps, exchange, caller, 'video', cost, async () => {
    const { shown } = await findVideos(deps, { userId, ...range })
    const answers = await render(deps, exchange, 'kling', shown)
    const data = answers.map((answer) => ('data' in answer ? answer.data : answer))
    sendJson(exchange, 200, { code: 0, message: 'SUCCEED', request_id: exchange.call, data })
  })
}

/** The maximum number of times that the list of ids is read for one page. */
const READS_MAX = 10

/**
 * Finds the caller's videos for one page, without those that were deleted. The ids come from a read
 * model, which may still have videos that were deleted a moment ago. More ids are read in their
 * place, because clients take a page without videos for the end of the list. `isLast` is true if
 * there are no more videos after those in `shown`.
 */
async function findVideos(
  { ledger, findRecentTasks }: Pick<TaskDeps, 'ledger' | 'findRecentTasks'>,
  page: Omit<Parameters<FindRecentTasks>[0], 'kind'>,
): Promise<{ readonly shown: readonly TaskRecord[]; readonly isLast: boolean }> {
  const shown: TaskRecord[] = []
  let next = page
  for (let read = 0; read < READS_MAX; read += 1) {
    const ids = await findRecentTasks({ ...next, kind: 'video' })
    const found = await Promise.all(ids.map((id) => ledger.peek(id)))
    for (const record of found) {
      if (record !== null && record.deletedAt === undefined) shown.push(record)
    }
    const isLast = ids.length < next.limit
    if (isLast || shown.length >= page.limit) return { shown: shown.slice(0, page.limit), isLast }
    next = { ...page, after: ids.at(-1) ?? null, offset: 0, limit: PAGE.most }
  }
  return { shown, isLast: false }
}

export const recentTasksIn =
  (db: Parameters<typeof recentTasks>[0]): FindRecentTasks =>
  (query) =>
    recentTasks(db, query)
