import type { FastifyRequest } from 'fastify'
import Type, { type Static, type TSchema } from 'typebox'
import { onlyAdmin, onlyUser, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { languageOf } from '#infra/http/language.ts'
import {
  countTasks,
  listTasks,
  TASKS_COUNTED_MAX,
  type TaskFilter,
} from '#projections/tasks/query.ts'
import { Envelope } from '../contract/envelope.ts'
import { DrawingTask, MusicTask, TaskPage } from '../contract/tasks.ts'
import { PageCursors } from '../logs/log-query.ts'
import { type App, integerOf, pageOf, Query, type ReadDeps, textOf, upToDate } from '../route.ts'
import {
  type DecryptedTask,
  decryptTasks,
  drawingAnswer,
  musicAnswer,
  type Viewer,
} from './task-answer.ts'

/** Times are in Unix seconds; both ends are inclusive. `channel_id` is only for admins. */
const Filters = {
  ...Query.page,
  channel_id: Query.integer,
  start_timestamp: Query.integer,
  end_timestamp: Query.integer,
}
const DrawingQuery = Type.Object({ ...Filters, mj_id: Query.text })
const MusicQuery = Type.Object({ ...Filters, task_id: Query.text })
type TaskQuery = Static<typeof DrawingQuery> & Static<typeof MusicQuery>

type Listing = {
  readonly kind: TaskFilter['kind']
  readonly path: string
  readonly query: TSchema
  readonly item: TSchema
  readonly answer: (row: DecryptedTask, viewer: Viewer) => DrawingTask | MusicTask
}

const DRAWINGS: Listing = {
  ...{ kind: 'drawing', path: '/api/mj', query: DrawingQuery, item: DrawingTask },
  answer: drawingAnswer,
}
const MUSIC: Listing = {
  ...{ kind: 'music', path: '/api/task', query: MusicQuery, item: MusicTask },
  answer: musicAnswer,
}

/**
 * `GET /api/mj/`, `GET /api/task/` (all users, for admins), `GET /api/mj/self` and `GET
 * /api/task/self`: drawing and music tasks, newest first.
 */
export function listTaskRows(app: App, deps: ReadDeps): void {
  for (const listing of [DRAWINGS, MUSIC]) {
    const cursors = new PageCursors()
    const fresh = upToDate(deps, 'tasks', 'users', 'channels')
    const schema = {
      querystring: listing.query,
      response: { 200: Envelope(TaskPage(listing.item)) },
    }
    const listFor = (request: FastifyRequest, ownerId: number | null) =>
      answer(deps, listing, cursors, { request, ownerId })
    app.get(
      `${listing.path}/`,
      { schema, onRequest: onlyAdmin, preHandler: fresh },
      async (request) => success(await listFor(request, null)),
    )
    app.get(
      `${listing.path}/self`,
      { schema, onRequest: onlyUser, preHandler: fresh },
      async (request) => success(await listFor(request, principalOf(request).userId)),
    )
  }
}

async function answer(
  { core, progress }: ReadDeps,
  listing: Listing,
  cursors: PageCursors,
  caller: { readonly request: FastifyRequest; readonly ownerId: number | null },
) {
  const { request, ownerId } = caller
  const query = request.query as TaskQuery
  const { page, limit } = pageOf(query)
  const filter = filterOf(listing.kind, query, ownerId)
  const { from: _start, to: _end, ...conditions } = filter
  const list = JSON.stringify([principalOf(request).userId, limit, conditions])
  const start = cursors.start(list, page, limit)
  const [rows, count] = await Promise.all([
    listTasks(core.db, filter, { ...start, limit }),
    countTasks(core.db, filter),
  ])
  const last = rows.at(-1)
  if (last !== undefined) cursors.learn(list, page, last.position)
  // NOTE: in the list of their own tasks, admins also see only what users see.
  const viewer = { isAdmin: ownerId === null, language: languageOf(request) }
  const decrypted = await decryptTasks(core, progress, rows)
  return {
    items: decrypted.map((row) => listing.answer(row, viewer)),
    page,
    total: Math.min(count, TASKS_COUNTED_MAX),
    is_total_capped: count > TASKS_COUNTED_MAX,
  }
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
