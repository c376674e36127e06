import { isInRange, quotaOf } from '#domain/provider-invoices/amounts.ts'
import { amountOf, type ProviderInvoice } from '#domain/provider-invoices/events.ts'
import { periodOf } from '#domain/provider-invoices/period.ts'
import { onlyAuditor } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { channelNames } from '#projections/channels/query.ts'
import { COMPARISONS, providerInvoiceQueries } from '../contract/provider-invoices.ts'
import {
  type App,
  integerOf,
  type ReadDeps,
  upToDate,
} from '../read-dependencies-and-query-parameters.ts'
import { compareProviderInvoice, matchedProviderInvoiceOf } from './compare-provider-invoice.ts'
import { exportProviderInvoice } from './export-provider-invoice.ts'
import {
  findProviderInvoice,
  importedInvoices,
  waitForComparison,
} from './find-provider-invoice.ts'
import { IdsInOtherInvoices } from './ids-in-other-invoices.ts'
import { invoiceLineResponse } from './invoice-line-response.ts'
import { MatchedInvoices } from './matched-invoice-cache.ts'

const PAGE_SIZE = 50

/**
 * Registers the routes of provider invoices. The routes share the results of matching invoices with
 * calls.
 */
export function providerInvoiceRoutes(app: App, deps: ReadDeps): void {
  const matches = new MatchedInvoices(deps.core.db)
  listProviderInvoices(app, deps)
  getProviderInvoice(app, deps, matches)
  listProviderInvoiceRequests(app, deps, matches)
  exportProviderInvoice(app, deps, matches)
}

/** `GET /api/audit/invoices`: the imported invoices, newest first. */
function listProviderInvoices(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(providerInvoiceQueries, 'GET /api/audit/invoices'),
    onRequest: onlyAuditor,
    preHandler: upToDate(deps, 'channels'),
    handler: async () => {
      const { actors, db } = deps.core
      const invoices = await importedInvoices(actors)
      const ids = invoices.map(({ channelId }) => channelId)
      const names = await channelNames(db, ids)
      return success(
        invoices.map((invoice) => summaryOf(invoice, names.get(invoice.channelId))).reverse(),
      )
    },
  })
}

/**
 * `GET /api/audit/invoices/:id`: an invoice, compared with the calls that this site recorded for
 * its channel.
 */
function getProviderInvoice(app: App, deps: ReadDeps, matches: MatchedInvoices): void {
  const knownIds = new IdsInOtherInvoices(deps.core.db)
  app.route({
    ...endpoint(providerInvoiceQueries, 'GET /api/audit/invoices/:id'),
    onRequest: onlyAuditor,
    preHandler: waitForComparison(deps, 'usage-by-hour', 'reconciliation', 'channels'),
    handler: async ({ params, query }) => {
      const invoice = await findProviderInvoice(deps, matches, params.id)
      const { db } = deps.core
      const invoices = await importedInvoices(deps.core.actors)
      const [{ requests, items: all, total, models }, names, known_ids] = await Promise.all([
        compareProviderInvoice(db, matches, invoice),
        channelNames(db, [invoice.channelId]),
        knownIds.count(invoice, invoices),
      ])
      const counts = Object.fromEntries(
        COMPARISONS.map((one) => [one, all.filter((item) => item.comparison === one).length]),
      )
      const { comparison = '' } = query
      const selected = all.filter((item) => comparison === '' || item.comparison === comparison)
      const start = integerOf(query.cursor) ?? 0
      const end = start + Number(query.limit ?? PAGE_SIZE)
      return success({
        ...summaryOf(invoice, names.get(invoice.channelId)),
        ...{ counts, total, models: [...models] },
        requests: requests && { ...requests, known_ids },
        items: selected.slice(start, end),
        next_cursor: end < selected.length ? String(end) : null,
      })
    },
  })
}

/**
 * `GET /api/audit/invoices/:id/requests`: the invoice lines that contain a request id. With
 * `match=only_ours`: the calls that are not in the invoice.
 */
function listProviderInvoiceRequests(app: App, deps: ReadDeps, matches: MatchedInvoices): void {
  app.route({
    ...endpoint(providerInvoiceQueries, 'GET /api/audit/invoices/:id/requests'),
    onRequest: onlyAuditor,
    preHandler: waitForComparison(deps, 'reconciliation'),
    handler: async ({ params, query: { match, cursor, limit = PAGE_SIZE } }) => {
      const invoice = await findProviderInvoice(deps, matches, params.id)
      const size = Number(limit)
      const page = { after: integerOf(cursor) ?? 0, limit: size + 1 }
      const rows = await matches.list(matchedProviderInvoiceOf(invoice), match, page)
      const items = rows.slice(0, size)
      return success({
        items: items.map((row) => invoiceLineResponse(row, match, invoice)),
        next_cursor: rows.length > size ? String(items.at(-1)?.place) : null,
      })
    },
  })
}

function summaryOf(invoice: ProviderInvoice, channelName = '') {
  const { invoiceId: id, channelId: channel_id, digest, bytes, rows, duplicates } = invoice
  const { currency, dollars, lines, importedAt } = invoice
  const period = periodOf(invoice)
  const corrections = lines.filter(
    ({ day }) => period === null || day < period.firstDay || day > period.lastDay,
  )
  return {
    ...{ id, channel_id, digest, bytes, rows, duplicates, currency, dollars },
    channel_name: channelName,
    first_day: period?.firstDay ?? lines[0]?.day ?? '',
    last_day: period?.lastDay ?? lines.at(-1)?.day ?? '',
    corrections: corrections.reduce((sum, { rows }) => sum + rows, 0),
    corrections_billed: quotaOf(amountOf({ lines: corrections }), invoice),
    billed: quotaOf(amountOf(invoice), invoice),
    is_out_of_range: !isInRange(invoice),
    imported_at: Math.floor(importedAt / 1_000),
  }
}
