import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ADMIN } from '#domain/shared/user-roles-and-statuses.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { isStillAdmitted, onlyAdmin, onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { httpError, invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import { languageOf } from '#infra/http/request-language.ts'
import { type LogFilter, type LogRow, logBatches } from '#projections/logs/query.ts'
import { recordExport } from '../audit/record-export.ts'
import { type ExportQuery, logQueries } from '../contract/logs.ts'
import { currentOptions } from '../options/current-options.ts'
import {
  type App,
  type ReadDeps,
  textOf,
  upToDate,
} from '../read-dependencies-and-query-parameters.ts'
import { createPermits, sendExport } from './export-permits-and-streaming.ts'
import { csvFormat, type ExportFormat, ndjsonFormat } from './log-export-formats.ts'
import { logFilter } from './log-filter-and-page-cursors.ts'
import type { Viewer } from './log-response.ts'

const DECIMALS = 6

/**
 * Returns a function that formats quota as dollars, with six decimals and rounded half away from
 * zero. `quotaPerUnit` is the value of the option `QuotaPerUnit`: the quota for one dollar. If this
 * value is 0 or invalid, the function uses 500 000.
 */
export function dollarsAt(quotaPerUnit: string): (quota: bigint) => string {
  const { units, scale } = readDecimal(quotaPerUnit)
  const factor = scale * 10n ** BigInt(DECIMALS)
  return (quota) => {
    const scaled = (quota < 0n ? -quota : quota) * factor
    const rounded = (scaled * 2n + units) / (units * 2n)
    const text = String(rounded).padStart(DECIMALS + 1, '0')
    const sign = quota < 0n && rounded > 0n ? '-' : ''
    return `${sign}${text.slice(0, -DECIMALS)}.${text.slice(-DECIMALS)}`
  }
}

function readDecimal(text: string): { units: bigint; scale: bigint } {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text)
  const fraction = match?.[2] ?? ''
  const units = match === null ? 0n : BigInt(`${match[1]}${fraction}`)
  return units === 0n
    ? { units: 500_000n, scale: 1n }
    : { units, scale: 10n ** BigInt(fraction.length) }
}

/**
 * The maximum numbers of exports that run at the same time. These numbers are low, because each
 * export uses a CPU core.
 */
const PERMIT_LIMITS = { all: 8, each: 2, reservedForAdmins: 2 }
/**
 * The time limits of an export in milliseconds. An export ends if the client reads nothing for
 * `stallMs`, or after `totalMs`. `totalMs` is enough for the longest log over a slow connection.
 */
const READ_LIMITS = { stallMs: 60_000, totalMs: 30 * 60_000 }
const RETRY_SECONDS = 5

/**
 * `GET /api/log/export` (all users, for admins) and `GET /api/log/self/export`: a file with all
 * rows that match the filters, newest first.
 */
export function exportLogs(app: App, deps: ReadDeps): void {
  const permits = createPermits(PERMIT_LIMITS, deps.longResponses ?? { inFlight: 0 })
  // NOTE: `exposeHeadRoute` is false, because a HEAD request would read all rows.
  const routeOptions = { exposeHeadRoute: false, preHandler: upToDate(deps, 'call-log') }
  app.route({
    ...endpoint(logQueries, 'GET /api/log/export'),
    ...routeOptions,
    onRequest: onlyAdmin,
    handler: (request, reply) =>
      respond({ deps, permits, request, reply, query: request.query }, null),
  })
  app.route({
    ...endpoint(logQueries, 'GET /api/log/self/export'),
    ...routeOptions,
    onRequest: onlyUser,
    handler: (request, reply) => {
      const { userId } = principalOf(request)
      return respond({ deps, permits, request, reply, query: request.query }, userId)
    },
  })
}

type ExportRequest = {
  readonly deps: ReadDeps
  readonly permits: ReturnType<typeof createPermits>
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly query: ExportQuery
}

async function respond(
  { deps, permits, request, reply, query }: ExportRequest,
  ownerId: number | null,
) {
  if (deps.draining.aborted) throw httpError('Draining', {}, RETRY_SECONDS)
  const { userId, role } = principalOf(request)
  const viewer = { isAdmin: ownerId === null && role >= ADMIN, language: languageOf(request) }
  const format = await formatOf(deps, query, viewer)
  const filter = await logFilter(deps, query, ownerId)
  const release = permits(userId, role >= ADMIN)
  const isAllowed = (): Promise<boolean> => isStillAdmitted(request)
  const text = exportText(deps.core, { filter, format, isAllowed })
  try {
    // The first rows are read before the response starts. If reading them fails, the client
    // receives an error response instead of a truncated file.
    await text.begin()
  } catch (error) {
    release()
    throw error
  }
  if (ownerId === null) {
    const exported = { exported: 'call-log', userId: filter?.userId ?? null, query } as const
    await recordExport(deps, request, { ...exported, format: query.format ?? 'csv' }, release)
  }
  const name = `usage.${format.extension}`
  return sendExport(reply, text, { name, type: format.type, release, limits: READ_LIMITS })
}

async function formatOf(
  { core }: ReadDeps,
  query: ExportQuery,
  viewer: Viewer,
): Promise<ExportFormat> {
  const columns = textOf(query.columns) ?? null
  if (query.format === 'ndjson') {
    if (columns === null) return ndjsonFormat(core.vault, viewer)
    throw invalidField('columns', { zh: '仅适用于 CSV', en: 'applies only to CSV' })
  }
  const zone = textOf(query.zone) ?? 'UTC'
  if (!isZone(zone)) {
    throw invalidField('zone', { zh: '不是已知的时区', en: 'is not a known time zone' })
  }
  const options = await currentOptions(core)
  const dollars = dollarsAt(options.text('QuotaPerUnit'))
  return csvFormat({ ...viewer, zone, dollars }, columns)
}

function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/**
 * The number of rows that are read at once. The rows are formatted in steps of `STEP_ROWS`, because
 * formatting all of them in one step would block the event loop.
 */
const BATCH_ROWS = 2_000
const STEP_ROWS = 200

/**
 * The text of an exported log, in chunks. At most two batches of rows are in memory at the same
 * time.
 */
type ExportText = AsyncIterable<string> & {
  /**
   * Reads the first rows. Call this function once before the iteration. Throws if reading fails.
   */
  readonly begin: () => Promise<void>
}

type ExportSource = {
  /** The filter for the rows, or null if no row can match. */
  readonly filter: LogFilter | null
  readonly format: ExportFormat
  /**
   * Reports whether the user may still read the rows. Called for each batch of rows before the
   * batch is sent.
   */
  readonly isAllowed: () => Promise<boolean>
}

function exportText(core: Core, { filter, format, isAllowed }: ExportSource): ExportText {
  const batches =
    filter === null ? null : logBatches(core, filter, { withSealed: format.isUnsealing })
  const read = async (before: number): Promise<readonly LogRow[]> =>
    (await batches?.(before, BATCH_ROWS)) ?? []
  let next: Promise<readonly LogRow[]> = Promise.resolve([])
  return {
    begin: async () => {
      next = read(Number.MAX_SAFE_INTEGER)
      await next
    },
    async *[Symbol.asyncIterator]() {
      if (format.head !== '') yield format.head
      for (;;) {
        const rows = await next
        if (!(await isAllowed())) throw new Error('the export is no longer allowed')
        const last = rows.at(-1)
        const isLast = last === undefined || rows.length < BATCH_ROWS
        // The next batch is read while the current batch is formatted. If the client stops reading
        // during this time, no code awaits `next`. The empty `catch` prevents an unhandled
        // rejection in this case.
        if (!isLast) next = read(last.id)
        next.catch(() => {})
        for (let at = 0; at < rows.length; at += STEP_ROWS) {
          yield await format.linesOf(rows.slice(at, at + STEP_ROWS))
          await nextTurn()
        }
        if (isLast) return
      }
    },
  }
}
