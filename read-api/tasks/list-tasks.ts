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
import { type App, pageOf, Query, type ReadDeps, textOf, upToDate, wholeOf } from '../question.ts'
import {
  drawingAnswer,
  musicAnswer,
  type OpenedTask,
  openTasks,
  type Viewer,
} from './task-answer.ts'

/** Times in unix seconds, both ends included. `channel_id` is for admins. */
const Filters = {
  ...Query.page,
  channel_id: Query.whole,
  start_timestamp: Query.whole,
  end_timestamp: Query.whole,
}
const DrawingQuery = Type.Object({ ...Filters, mj_id: Query.text })
const MusicQuery = Type.Object({ ...Filters, task_id: Query.text })
type Asked = Static<typeof DrawingQuery> & Static<typeof MusicQuery>

type Listing = {
  readonly kind: TaskFilter['kind']
  readonly path: string
  readonly query: TSchema
  readonly item: TSchema
  readonly answer: (row: OpenedTask, viewer: Viewer) => DrawingTask | MusicTask
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
 * `GET /api/mj/`, `GET /api/task/` (everybody's, for admins), `GET /api/mj/self` and
 * `GET /api/task/self`: drawings and music tasks, newest first.
 */
export function listTaskRows(app: App, deps: ReadDeps): void {
  for (const listing of [DRAWINGS, MUSIC]) {
    const cursors = new PageCursors()
    const fresh = upToDate(deps, 'tasks', 'users', 'channels')
    const schema = {
      querystring: listing.query,
      response: { 200: Envelope(TaskPage(listing.item)) },
    }
    const ask = (request: FastifyRequest, ownerId: number | null) =>
      answer(deps, listing, cursors, { request, ownerId })
    app.get(
      `${listing.path}/`,
      { schema, onRequest: onlyAdmin, preHandler: fresh },
      async (request) => success(await ask(request, null)),
    )
    app.get(
      `${listing.path}/self`,
      { schema, onRequest: onlyUser, preHandler: fresh },
      async (request) => success(await ask(request, principalOf(request).userId)),
    )
  }
}

async function answer(
  { core, progress }: ReadDeps,
  listing: Listing,
  cursors: PageCursors,
  asked: { readonly request: FastifyRequest; readonly ownerId: number | null },
) {
  const { request, ownerId } = asked
  const query = request.query as Asked
  const { page, limit } = pageOf(query)
  const filter = filterOf(listing.kind, query, ownerId)
  const { from: _start, to: _end, ...kept } = filter
  const list = JSON.stringify([principalOf(request).userId, limit, kept])
  const start = cursors.start(list, page, limit)
  const [rows, counted] = await Promise.all([
    listTasks(core.db, filter, { ...start, limit }),
    countTasks(core.db, filter),
  ])
  const last = rows.at(-1)
  if (last !== undefined) cursors.learn(list, page, last.position)
  // NOTE: in one's own list an admin, too, sees what a user sees.
  const viewer = { isAdmin: ownerId === null, language: languageOf(request) }
  const opened = await openTasks(core, progress, rows)
  return {
    items: opened.map((row) => listing.answer(row, viewer)),
    page,
    total: Math.min(counted, TASKS_COUNTED_MAX),
    is_total_capped: counted > TASKS_COUNTED_MAX,
  }
}

function filterOf(kind: TaskFilter['kind'], query: Asked, ownerId: number | null): TaskFilter {
  const channelId = ownerId === null ? wholeOf(query.channel_id) : undefined
  const id = textOf((kind === 'drawing' ? query.mj_id : query.task_id)?.trim())
  const from = wholeOf(query.start_timestamp)
  const to = wholeOf(query.end_timestamp)
  return {
    kind,
    ...(ownerId === null ? {} : { userId: ownerId }),
    ...(channelId === undefined || channelId === 0 ? {} : { channelId }),
    ...(id === undefined ? {} : { id, isByUpstreamId: ownerId === null }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  }
}
