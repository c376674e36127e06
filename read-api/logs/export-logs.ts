import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import Type from 'typebox'
import { isStillAdmitted, onlyAdmin, onlyUser, principalOf } from '#infra/http/access.ts'
import { httpError, invalidField } from '#infra/http/http-errors.ts'
import { languageOf } from '#infra/http/language.ts'
import { optionsInForce } from '../options/list-options.ts'
import { type App, type ReadDeps, textOf, upToDate } from '../question.ts'
import { csvFormat, type ExportFormat, ndjsonFormat } from './export-format.ts'
import { createPermits, whileRead } from './export-permits.ts'
import { exportText } from './export-text.ts'
import type { Viewer } from './log-answer.ts'
import { AdminFilters, LogFilters, logFilter } from './log-query.ts'

const DECIMALS = 6

/**
 * Writes a quota as dollars with six decimals, rounded half away from zero. `quotaPerUnit` is the
 * option's decimal; one that is none counts as the default.
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

const Shape = {
  format: Type.Optional(Type.Union([Type.Literal('csv'), Type.Literal('ndjson')])),
  /** IANA name of the zone that a CSV's times are in; UTC unless given. */
  zone: Type.Optional(Type.String({ maxLength: 64 })),
  /** Of a CSV, by their names, with commas between; all of them unless given. */
  columns: Type.Optional(Type.String({ maxLength: 500 })),
}
const AllRows = Type.Object({ ...AdminFilters, ...Shape })
const OwnRows = Type.Object({ ...LogFilters, ...Shape })
type ExportQuery = Static<typeof AllRows>

const FILE = {
  200: {
    description: [
      'A file, sent as it is read: one that breaks off ends the connection. In a CSV `cost_usd` is',
      'what a call cost: it adds up to the total of `stat`. `amount_usd` is what any other row',
      'brought in, negative where it took; `quota` is the one or the other in quota.',
    ].join(' '),
    content: {
      'text/csv': { schema: Type.String() },
      'application/x-ndjson': { schema: Type.String() },
    },
  },
}

/** Each holds a connection to the database for moments only, but a core while it is read. */
const SEATS = { all: 8, each: 2, keptForAdmins: 2 }
/** A stall as for the streams of calls; in all, the longest log over a slow line. */
const LIMITS = { stallMs: 60_000, wholeMs: 30 * 60_000 }
const RETRY_SECONDS = 5

/**
 * `GET /api/log/export` (everybody's, for admins) and `GET /api/log/self/export`: every row that
 * the filters of the list let through, newest first, as one file.
 */
export function exportLogs(app: App, deps: ReadDeps): void {
  const permits = createPermits(SEATS, deps.longResponses ?? { inFlight: 0 })
  // NOTE: a HEAD would read every row for nobody.
  const asked = { exposeHeadRoute: false, preHandler: upToDate(deps, 'call-log') }
  app.get(
    '/api/log/export',
    {
      ...asked,
      schema: { querystring: AllRows, response: FILE },
      onRequest: onlyAdmin,
    },
    (request, reply) => answer({ deps, permits, request, reply, query: request.query }, null),
  )
  app.get(
    '/api/log/self/export',
    {
      ...asked,
      schema: { querystring: OwnRows, response: FILE },
      onRequest: onlyUser,
    },
    (request, reply) => {
      const { userId } = principalOf(request)
      return answer({ deps, permits, request, reply, query: request.query }, userId)
    },
  )
}

type Asked = {
  readonly deps: ReadDeps
  readonly permits: ReturnType<typeof createPermits>
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly query: ExportQuery
}

async function answer({ deps, permits, request, reply, query }: Asked, ownerId: number | null) {
  if (deps.draining.aborted) throw httpError('Draining', {}, RETRY_SECONDS)
  const { userId, role } = principalOf(request)
  const viewer = { isAdmin: ownerId === null && role >= 10, language: languageOf(request) }
  const format = await formatOf(deps, query, viewer)
  const filter = await logFilter(deps, query, ownerId)
  const release = permits(userId, role >= 10)
  const isAllowed = (): Promise<boolean> => isStillAdmitted(request)
  const text = exportText(deps.core, { filter, format, isAllowed })
  try {
    // Read before the status is sent: what fails at once is a error, not a file that breaks off.
    await text.begin()
  } catch (error) {
    release()
    throw error
  }
  const pieces = whileRead(text, LIMITS, (why) => file.destroy(why))
  const file: Readable = Readable.from(pieces, { objectMode: false })
  file.once('close', release)
  reply.header('content-disposition', `attachment; filename="usage.${format.extension}"`)
  return reply.type(format.type).send(file)
}

async function formatOf(
  { core }: ReadDeps,
  query: ExportQuery,
  viewer: Viewer,
): Promise<ExportFormat> {
  const columns = textOf(query.columns) ?? null
  if (query.format === 'ndjson') {
    if (columns === null) return ndjsonFormat(core.vault, viewer)
    throw invalidField('columns', { zh: '仅适用于 CSV', en: 'is of a CSV alone' })
  }
  const zone = textOf(query.zone) ?? 'UTC'
  if (!isZone(zone)) {
    throw invalidField('zone', { zh: '不是已知的时区', en: 'is no time zone that is known' })
  }
  const options = await optionsInForce(core)
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
