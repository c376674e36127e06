import { ADMIN } from '#domain/shared/user-roles-and-statuses.ts'
import { isStillAdmitted, onlyAuditor, onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { type LedgerFilter, listMovements, type TotalAt } from '#projections/ledger/query.ts'
import { type LedgerExportQuery, type LedgerItem, ledgerQueries } from '../contract/ledger.ts'
import { createPermits, sendExport } from '../logs/export-permits-and-streaming.ts'
import { csvLine } from '../logs/log-export-formats.ts'
import { type App, type ReadDeps, upToDate } from '../read-dependencies-and-query-parameters.ts'
import {
  type LedgerViewer,
  ledgerFilter,
  ledgerItems,
  ownLedger,
  userLedger,
} from './ledger-statement-and-balance-routes.ts'
import { type Exporting, recordExport } from './record-export.ts'

const PERMIT_LIMITS = { all: 8, each: 2, reservedForAdmins: 2 }
const READ_LIMITS = { stallMs: 60_000, totalMs: 30 * 60_000 }
const RETRY_SECONDS = 5
const BATCH_ROWS = 1_000

const COLUMNS = [
  'position',
  'revision',
  'created_at',
  'type',
  'source',
  'amount',
  'total',
  'balance',
  'held',
  'actor_id',
  'actor_name',
  'reason',
  'note',
  'model',
  'token_id',
  'channel_id',
  'corrected_calls',
] as const satisfies readonly (keyof LedgerItem)[]

const FORMATS = {
  csv: {
    type: 'text/csv; charset=utf-8',
    head: csvLine(COLUMNS),
    lineOf: (item: LedgerItem) => csvLine(COLUMNS.map((name) => item[name])),
  },
  ndjson: {
    type: 'application/x-ndjson; charset=utf-8',
    head: '',
    lineOf: (item: LedgerItem) => `${JSON.stringify(item)}\n`,
  },
}

/**
 * `GET /api/ledger/self/export` and `GET /api/audit/ledger/:userId/export`: all ledger entries that
 * match the filters, as CSV or NDJSON, newest first. Rows are sent as they are read.
 */
export function exportLedger(app: App, deps: ReadDeps): void {
  const permits = createPermits(PERMIT_LIMITS, deps.longResponses ?? { inFlight: 0 })
  // NOTE: `exposeHeadRoute` is false, because a HEAD request would read all rows.
  const options = {
    exposeHeadRoute: false,
    preHandler: upToDate(deps, 'ledger', 'users', 'corrected-calls'),
  }
  app.route({
    ...endpoint(ledgerQueries, 'GET /api/ledger/self/export'),
    ...{ ...options, onRequest: onlyUser },
    handler: (request, reply) =>
      send({ deps, permits, request, reply }, ownLedger(request), request.query),
  })
  app.route({
    ...endpoint(ledgerQueries, 'GET /api/audit/ledger/:userId/export'),
    ...{ ...options, onRequest: onlyAuditor },
    handler: async (request, reply) => {
      const viewer = await userLedger(deps, request.params.userId)
      return send({ deps, permits, request, reply }, viewer, request.query)
    },
  })
}

async function send(
  { deps, permits, request, reply }: Exporting,
  viewer: LedgerViewer,
  query: LedgerExportQuery,
) {
  if (deps.draining.aborted) throw httpError('Draining', {}, RETRY_SECONDS)
  const filter = await ledgerFilter(deps, viewer, query)
  const name = query.format ?? 'csv'
  const { userId, role } = principalOf(request)
  const release = permits(userId, role >= ADMIN)
  if (!viewer.isOwner) {
    const exported = { exported: 'ledger', userId: viewer.userId, format: name, query } as const
    await recordExport(deps, request, exported, release)
  }
  const text = ledgerText(deps, viewer, filter, FORMATS[name], () => isStillAdmitted(request))
  const file = { name: `ledger-${viewer.userId}.${name}`, type: FORMATS[name].type }
  return sendExport(reply, text, { ...file, release, limits: READ_LIMITS })
}

async function* ledgerText(
  deps: ReadDeps,
  viewer: LedgerViewer,
  filter: LedgerFilter,
  { head, lineOf }: (typeof FORMATS)['csv'],
  isAllowed: () => Promise<boolean>,
): AsyncGenerator<string> {
  if (head !== '') yield head
  let newer: TotalAt | null = null
  for (let { before } = filter; ; ) {
    const rows = await listMovements(deps.core.db, { ...filter, before }, BATCH_ROWS)
    if (!(await isAllowed())) throw new Error('the export is no longer allowed')
    const items: LedgerItem[] = await ledgerItems(deps, viewer, rows, newer)
    if (items.length > 0) yield items.map(lineOf).join('')
    const last = items.at(-1)
    if (last === undefined || rows.length < BATCH_ROWS) return
    before = last.position
    newer = { position: last.position, total: BigInt(last.total) }
  }
}
