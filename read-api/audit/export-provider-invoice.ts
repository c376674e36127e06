import type { ProviderInvoice } from '#domain/provider-invoices/events.ts'
import { ADMIN } from '#domain/shared/user-roles-and-statuses.ts'
import { isStillAdmitted, onlyAuditor, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import {
  type Comparison,
  type ProviderInvoiceItem,
  type ProviderInvoiceRequest,
  providerInvoiceQueries,
  type RequestMatch,
} from '../contract/provider-invoices.ts'
import { createPermits, sendExport } from '../logs/export-permits-and-streaming.ts'
import { csvLine } from '../logs/log-export-formats.ts'
import type { App, ReadDeps } from '../read-dependencies-and-query-parameters.ts'
import { compareProviderInvoice, matchedProviderInvoiceOf } from './compare-provider-invoice.ts'
import { findProviderInvoice, waitForComparison } from './find-provider-invoice.ts'
import { invoiceLineResponse } from './invoice-line-response.ts'
import type { MatchedInvoices } from './matched-invoice-cache.ts'
import { type Exporting, recordExport } from './record-export.ts'

const PERMIT_LIMITS = { all: 4, each: 2 }
const READ_LIMITS = { stallMs: 60_000, totalMs: 30 * 60_000 }
const RETRY_SECONDS = 5
const BATCH_ROWS = 1_000

const DAY_COLUMNS = [
  ...(['day', 'model', 'comparison', 'rows', 'billed_tokens', 'amount', 'billed'] as const),
  ...(['calls', 'tokens', 'cost', 'charged', 'margin'] as const),
] as const satisfies readonly (keyof ProviderInvoiceItem)[]

const LINE_COLUMNS = [
  ...(['row', 'match', 'upstream_id', 'day', 'model', 'billed_tokens', 'amount'] as const),
  'billed',
] as const satisfies readonly (keyof ProviderInvoiceRequest)[]
const CALL_COLUMNS = [
  ...(['request_id', 'user_id', 'ended_at', 'model', 'tokens', 'cost', 'charged'] as const),
] as const satisfies readonly (keyof NonNullable<ProviderInvoiceRequest['call']>)[]

/**
 * `GET /api/audit/invoices/:id/export`: the comparison of an invoice by day and model, as CSV.
 * `…/requests/export`: the comparison by request. Amounts are in quota, except `amount`, which is
 * in the invoice's currency.
 */
export function exportProviderInvoice(app: App, deps: ReadDeps, matches: MatchedInvoices): void {
  const permits = createPermits(PERMIT_LIMITS, deps.longResponses ?? { inFlight: 0 })
  // NOTE: `exposeHeadRoute` is false, because a HEAD request would read all rows.
  const options = {
    ...{ exposeHeadRoute: false, onRequest: onlyAuditor },
    preHandler: waitForComparison(deps, 'usage-by-hour', 'reconciliation'),
  }
  app.route({
    ...endpoint(providerInvoiceQueries, 'GET /api/audit/invoices/:id/export'),
    ...options,
    handler: async (request, reply) => {
      const invoice = await findProviderInvoice(deps, matches, request.params.id)
      const text = daysText(deps, matches, invoice, request.query.comparison ?? '')
      return send({ deps, permits, request, reply }, invoice, 'invoice-days', text)
    },
  })
  app.route({
    ...endpoint(providerInvoiceQueries, 'GET /api/audit/invoices/:id/requests/export'),
    ...options,
    handler: async (request, reply) => {
      const invoice = await findProviderInvoice(deps, matches, request.params.id)
      const isAllowed = () => isStillAdmitted(request)
      const text = requestsText(matches, invoice, request.query.match, isAllowed)
      return send({ deps, permits, request, reply }, invoice, 'invoice-requests', text)
    },
  })
}

async function send(
  { deps, permits, request, reply }: Exporting,
  { invoiceId }: ProviderInvoice,
  exported: 'invoice-days' | 'invoice-requests',
  text: AsyncIterable<string>,
) {
  if (deps.draining.aborted) throw httpError('Draining', {}, RETRY_SECONDS)
  const { userId, role } = principalOf(request)
  const release = permits(userId, role >= ADMIN)
  const query = request.query as object
  const recorded = { exported, userId: null, invoiceId, format: 'csv', query } as const
  await recordExport(deps, request, recorded, release)
  const file = { name: `${exported}.csv`, type: 'text/csv; charset=utf-8' }
  return sendExport(reply, text, { ...file, release, limits: READ_LIMITS })
}

async function* daysText(
  { core: { db } }: ReadDeps,
  matches: MatchedInvoices,
  invoice: ProviderInvoice,
  comparison: Comparison | '',
): AsyncGenerator<string> {
  yield csvLine([...DAY_COLUMNS, 'currency'])
  const { items } = await compareProviderInvoice(db, matches, invoice)
  yield items
    .filter((item) => comparison === '' || item.comparison === comparison)
    .map((item) => csvLine([...DAY_COLUMNS.map((name) => item[name]), invoice.currency]))
    .join('')
}

async function* requestsText(
  matches: MatchedInvoices,
  invoice: ProviderInvoice,
  match: RequestMatch,
  isAllowed: () => Promise<boolean>,
): AsyncGenerator<string> {
  const calls = CALL_COLUMNS.map((name) => `call_${name}`)
  yield csvLine([...LINE_COLUMNS, 'currency', ...calls, 'difference'])
  const matched = matchedProviderInvoiceOf(invoice)
  for (let after = 0; ; ) {
    const rows = await matches.list(matched, match, { after, limit: BATCH_ROWS })
    if (!(await isAllowed())) throw new Error('the export is no longer allowed')
    if (rows.length > 0)
      yield rows.map((row) => lineOf(invoiceLineResponse(row, match, invoice), invoice)).join('')
    const last = rows.at(-1)
    if (last === undefined || rows.length < BATCH_ROWS) return
    after = last.place
  }
}

const lineOf = (item: ProviderInvoiceRequest, { currency }: ProviderInvoice): string =>
  csvLine([
    ...LINE_COLUMNS.map((name) => item[name]),
    currency,
    ...CALL_COLUMNS.map((name) => item.call?.[name] ?? null),
    item.difference,
  ])
