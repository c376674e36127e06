import type { Sealed } from '#domain/shared/event.ts'
import { ADMIN } from '#domain/shared/user-roles-and-statuses.ts'
import { isStillAdmitted, onlyAuditor, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { httpError, invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import { success } from '#infra/http/response-envelope.ts'
import {
  type ActCursor,
  type ActFilter,
  type ActRow,
  listActs,
} from '#projections/audit-log/query.ts'
import { channelNames } from '#projections/channels/query.ts'
import { userIdsByName, usersByIds } from '#projections/users/query.ts'
import { isActName } from '../contract/audit-act-names.ts'
import { type ActsQuery, type AuditAct, auditLogQueries } from '../contract/audit-log.ts'
import { createPermits, sendExport } from '../logs/export-permits-and-streaming.ts'
import { csvLine } from '../logs/log-export-formats.ts'
import {
  type App,
  integerOf,
  periodOf,
  type ReadDeps,
  textOf,
  upToDate,
} from '../read-dependencies-and-query-parameters.ts'
import { recordExport } from './record-export.ts'

const PAGE_SIZE = 50
const PAGE_SIZE_MAX = 100
const BATCH_ROWS = 500
const PERMIT_LIMITS = { all: 4, each: 2 }
const READ_LIMITS = { stallMs: 60_000, totalMs: 30 * 60_000 }
const RETRY_SECONDS = 5

/**
 * `GET /api/audit/log`: the administrative and security actions of users and of the site, newest
 * first. Each entry has the fields that the action changed.
 */
export function listAuditLog(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(auditLogQueries, 'GET /api/audit/log'),
    ...{ onRequest: onlyAuditor, preHandler: upToDate(deps, 'audit-log', 'users', 'channels') },
    handler: async ({ query }) => {
      const limit = Math.min(integerOf(query.limit) || PAGE_SIZE, PAGE_SIZE_MAX)
      const cursor = cursorOf(query.cursor)
      const found = await listActs(deps.core.db, await filterOf(deps, query), cursor, limit + 1)
      const rows = found.slice(0, limit)
      const last = rows.at(-1)
      return success({
        items: await actsOf(deps, rows),
        next_cursor:
          found.length > limit && last !== undefined ? `${last.position}.${last.objectId}` : null,
      })
    },
  })
}

const CSV_COLUMNS = [
  'position',
  'created_at',
  'actor',
  'act',
  'object',
  'before',
  'after',
  'reason',
  'client_ip',
  'request_id',
] as const

/**
 * `GET /api/audit/log/export`: all entries of the audit log that match the filters, as CSV or
 * NDJSON.
 */
export function exportAuditLog(app: App, deps: ReadDeps): void {
  const permits = createPermits(PERMIT_LIMITS, deps.longResponses ?? { inFlight: 0 })
  app.route({
    ...endpoint(auditLogQueries, 'GET /api/audit/log/export'),
    // NOTE: `exposeHeadRoute` is false, because a HEAD request would read all rows.
    ...{ exposeHeadRoute: false, onRequest: onlyAuditor },
    preHandler: upToDate(deps, 'audit-log', 'users', 'channels'),
    handler: async (request, reply) => {
      if (deps.draining.aborted) throw httpError('Draining', {}, RETRY_SECONDS)
      const filter = await filterOf(deps, request.query)
      const format = request.query.format ?? 'csv'
      const { userId, role } = principalOf(request)
      const release = permits(userId, role >= ADMIN)
      const { query } = request
      const exported = { exported: 'audit-log', userId: null, format, query } as const
      await recordExport(deps, request, exported, release)
      const text = exportText(deps, filter, format, () => isStillAdmitted(request))
      const type = format === 'csv' ? 'text/csv' : 'application/x-ndjson'
      const file = { name: `audit-log.${format}`, type: `${type}; charset=utf-8` }
      return sendExport(reply, text, { ...file, release, limits: READ_LIMITS })
    },
  })
}

async function* exportText(
  deps: ReadDeps,
  filter: ActFilter,
  format: 'csv' | 'ndjson',
  isAllowed: () => Promise<boolean>,
): AsyncGenerator<string> {
  if (format === 'csv') yield csvLine(CSV_COLUMNS)
  for (let cursor: ActCursor | null = null; ; ) {
    const rows: readonly ActRow[] = await listActs(deps.core.db, filter, cursor, BATCH_ROWS)
    if (!(await isAllowed())) throw new Error('the export is no longer allowed')
    const acts = await actsOf(deps, rows)
    const lines = acts.map((act) => (format === 'csv' ? csvOf(act) : `${JSON.stringify(act)}\n`))
    if (lines.length > 0) yield lines.join('')
    const last = rows.at(-1)
    if (last === undefined || rows.length < BATCH_ROWS) return
    cursor = last
  }
}

const csvOf = ({ actor, object, before, after, ...act }: AuditAct): string =>
  csvLine([
    ...[act.position, act.created_at, `${actor.kind}:${actor.id}`, act.act],
    ...[`${object.kind}:${object.id}`, JSON.stringify(before ?? {}), JSON.stringify(after)],
    ...[act.reason, act.client_ip, act.request_id],
  ])

async function filterOf(
  deps: ReadDeps,
  query: Omit<ActsQuery, 'cursor' | 'limit'>,
): Promise<ActFilter> {
  const [act, object] = [textOf(query.act), textOf(query.object)]
  if (act !== undefined && !isActName(act)) {
    throw invalidField('act', { zh: '没有这种操作', en: 'is not the name of an act' })
  }
  const [, kind = '', id = ''] = /^([a-z-]+):(.*)$/.exec(object ?? '') ?? []
  if (object !== undefined && kind === '') {
    throw invalidField('object', { zh: '应形如 channel:3', en: 'must look like channel:3' })
  }
  return {
    ...{ actors: await actorsOf(deps, textOf(query.actor)), act },
    object: object === undefined ? undefined : { kind, id },
    ...periodOf(query),
  }
}

/**
 * Returns the actors that match a filter text, or undefined if there is no filter text. An actor is
 * a text such as `user:7`. A filter text is the name of a user. A text with a colon is compared
 * with actors, too.
 */
async function actorsOf(
  { core }: ReadDeps,
  text: string | undefined,
): Promise<readonly string[] | undefined> {
  if (text === undefined) return undefined
  const ids = await userIdsByName(core.db, text)
  const users = ids.map((id) => `user:${id}`)
  return text.includes(':') ? [text, ...users] : users
}

function cursorOf(text: string | undefined): ActCursor | null {
  if (text === undefined || text === '') return null
  const [, position, objectId = ''] = /^(\d{1,15})\.(.*)$/.exec(text) ?? []
  if (position === undefined) {
    throw invalidField('cursor', { zh: '不是有效的游标', en: 'is not a cursor of this list' })
  }
  return { position: Number(position), objectId }
}

/**
 * Converts rows of the audit log to the entries of a response, with the current names of the users
 * and channels that the rows mention.
 */
export async function actsOf(
  { core }: Pick<ReadDeps, 'core'>,
  rows: readonly ActRow[],
): Promise<AuditAct[]> {
  const ids = rows.flatMap(({ actor, objectKind, objectId }) => [
    Number(/^user:(\d+)$/.exec(actor)?.[1] ?? 0),
    objectKind === 'user' ? Number(objectId) : 0,
  ])
  const users = await usersByIds(
    core.db,
    [...new Set(ids)].filter((id) => id > 0),
  )
  const channelIds = rows
    .filter(({ objectKind }) => objectKind === 'channel')
    .map(({ objectId }) => Number(objectId))
  const channels = await channelNames(core.db, [...new Set(channelIds)])
  const names = new Map<string, string>([
    ...users.map(({ id, username }) => [`user:${id}`, username] as const),
    ...[...channels].map(([id, name]) => [`channel:${id}`, name] as const),
  ])
  const named = (kind: string, id: string) => ({ kind, id, name: names.get(`${kind}:${id}`) ?? '' })
  const acts: AuditAct[] = []
  for (const row of rows) {
    const [actorKind = '', actorId = ''] = row.actor.split(/:(.*)/s)
    const open = async (userId: number, text: string | null): Promise<string | null> =>
      text === null ? '' : await core.vault.open(userId, text as Sealed)
    const reason = await open(row.noteUser, row.note)
    acts.push({
      ...{ position: row.position, created_at: row.createdAt, act: row.act },
      ...{ actor: named(actorKind, actorId), object: named(row.objectKind, row.objectId) },
      ...changesOf(row),
      reason: reason ?? '',
      is_reason_erased: reason === null,
      client_ip: (await open(row.clientUser, row.clientIp)) ?? '',
      request_id: row.requestId,
    })
  }
  return acts
}

/**
 * Returns the changed fields of an entry. Fields with the same value before and after are left out.
 * If the row has no values before the action, all fields are returned. For a login, all fields are
 * returned as well, because a login does not replace the values of an earlier login.
 */
function changesOf({ act, before, after }: ActRow): Pick<AuditAct, 'before' | 'after'> {
  if (before === null || act === 'user-logged-in') return { before: null, after: { ...after } }
  const changed = Object.entries(after).filter(
    ([name, value]) => JSON.stringify(before[name]) !== JSON.stringify(value),
  )
  return {
    before: Object.fromEntries(
      changed.filter(([name]) => name in before).map(([name]) => [name, before[name]]),
    ),
    after: Object.fromEntries(changed),
  }
}
