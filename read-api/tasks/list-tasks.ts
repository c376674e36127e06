import type { FastifyInstance, FastifyRequest } from 'fastify'
import { onlyAdmin, onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { languageOf } from '#infra/http/request-language.ts'
import { success } from '#infra/http/response-envelope.ts'
import {
  countTasks,
  type ListOrder,
  listTasks,
  newestTaskPosition,
  SORT_WINDOW,
  sortedTasks,
  TASKS_COUNTED_MAX,
  type TaskFilter,
} from '#projections/tasks/query.ts'
import {
  type DrawingTask,
  type MusicTask,
  type TaskQuery,
  type TaskSort,
  taskQueries,
} from '../contract/tasks.ts'
import { PageCursors } from '../logs/log-filter-and-page-cursors.ts'
import {
  integerOf,
  pageOf,
  type ReadDeps,
  textOf,
  upToDate,
} from '../read-dependencies-and-query-parameters.ts'
import {
  type DecryptedTask,
  decryptTasks,
  drawingResponse,
  musicResponse,
  type Viewer,
} from './task-response.ts'

type Listing = {
  readonly kind: TaskFilter['kind']
  readonly all: 'GET /api/mj/' | 'GET /api/task/'
  readonly own: 'GET /api/mj/self' | 'GET /api/task/self'
  readonly toResponse: (row: DecryptedTask, viewer: Viewer) => DrawingTask | MusicTask
}

const LISTINGS: readonly Listing[] = [
  { kind: 'drawing', all: 'GET /api/mj/', own: 'GET /api/mj/self', toResponse: drawingResponse },
  { kind: 'music', all: 'GET /api/task/', own: 'GET /api/task/self', toResponse: musicResponse },
]

/**
 * `GET /api/mj/` (drawing) and `GET /api/task/` (music and video), for admins: the tasks of all
 * users, by default newest first. `GET /api/mj/self` and `GET /api/task/self`: the caller's tasks.
 */
export function listTaskRows(app: FastifyInstance, deps: ReadDeps): void {
  const preHandler = upToDate(deps, 'tasks', 'users', 'channels')
  for (const listing of LISTINGS) {
    const cursors = new PageCursors()
    const listFor = async (request: FastifyRequest, ownerId: number | null) =>
      success(await respond(deps, listing, cursors, { request, ownerId }))
    app.route({
      ...endpoint(taskQueries, listing.all),
      onRequest: onlyAdmin,
      preHandler,
      handler: (request) => listFor(request, null),
    })
    app.route({
      ...endpoint(taskQueries, listing.own),
      onRequest: onlyUser,
      preHandler,
      handler: (request) => listFor(request, principalOf(request).userId),
    })
  }
}

async function respond(
  { core, progress }: ReadDeps,
  listing: Listing,
  cursors: PageCursors,
  caller: { readonly request: FastifyRequest; readonly ownerId: number | null },
) {
  const { request, ownerId } = caller
  const query = request.query as TaskQuery
  const { page, limit, offset } = pageOf(query)
  const filter = filterOf(listing.kind, query, ownerId)
  const { from: _start, to: _end, ...conditions } = filter
  const order = taskOrder(query, ownerId)
  const list = JSON.stringify([principalOf(request).userId, limit, conditions, order])
  const end = () => cursors.end(list, page, () => newestTaskPosition(core.db, filter))
  const [rows, count] = await Promise.all([
    order === null
      ? listTasks(core.db, filter, { ...cursors.start(list, page, limit), limit })
      : sortedTasks(core.db, filter, { ...order, limit, offset, before: await end() }),
    countTasks(core.db, filter),
  ])
  const last = rows.at(-1)
  if (order === null && last !== undefined) cursors.learn(list, page, last.position)
  const most = order === null ? TASKS_COUNTED_MAX : SORT_WINDOW
  // NOTE: In the list of their own tasks, admins see the same fields as any other user.
  const viewer = { isAdmin: ownerId === null, language: languageOf(request) }
  const decrypted = await decryptTasks(core, progress, rows)
  return {
    items: decrypted.map((row) => listing.toResponse(row, viewer)),
    page,
    total: Math.min(count, most),
    is_total_capped: count > most,
  }
}

/**
 * Returns the requested order of the tasks, or null for the default order, newest first. The list
 * of the caller's own tasks can't be sorted by channel, because this list does not show channels.
 */
function taskOrder({ sort, order }: TaskQuery, ownerId: number | null): ListOrder<TaskSort> | null {
  if (!sort || (sort === 'channel' && ownerId !== null)) return null
  const isNewestFirst = sort === 'submit_time' && order !== 'asc'
  return isNewestFirst ? null : { sort, isDescending: order !== 'asc' }
}

function filterOf(kind: TaskFilter['kind'], query: TaskQuery, ownerId: number | null): TaskFilter {
  const channelId = ownerId === null ? integerOf(query.channel_id) : undefined
  const id = textOf((kind === 'drawing' ? query.mj_id : query.task_id)?.trim())
  const from = integerOf(query.start_timestamp)
  const to = integerOf(query.end_timestamp)
  return {
    kind,
    ...(ownerId === null ? {} : { userId: ownerId }),
    ...(channelId === undefined || channelId === 0 ? {} : { channelId }),
    ...(id === undefined ? {} : { id, isByUpstreamId: ownerId === null }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  }
}
