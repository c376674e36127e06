import type { CommonQueryMethods } from 'slonik'
import { isInRange, quotaOf } from '#domain/provider-invoices/amounts.ts'
import {
  amountOf,
  amountText,
  otherProviderInvoiceIds,
  PROVIDER_INVOICES_STREAM,
  type ProviderInvoice,
  type ProviderInvoicesState,
  providerInvoicesDecider,
} from '#domain/provider-invoices/events.ts'
import { periodOf } from '#domain/provider-invoices/period.ts'
import { onlyAuditor } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { channelNames } from '#projections/channels/query.ts'
import {
  countKnownIds,
  countLines,
  listMatches,
  listOnlyOurs,
  type MatchedProviderInvoice,
  type RequestMatchRow,
} from '#projections/reconciliation/query.ts'
import {
  COMPARISONS,
  type ProviderInvoiceRequest,
  providerInvoiceQueries,
  type RequestMatch,
} from '../contract/provider-invoices.ts'
import { type App, integerOf, type ReadDeps, upToDate } from '../read-route-helpers.ts'
import { compareProviderInvoice, matchedProviderInvoiceOf } from './compare-provider-invoice.ts'
import { findProviderInvoice, waitForComparison } from './find-provider-invoice.ts'

const PAGE_SIZE = 50

/** `GET /api/audit/invoices`: the imported invoices, newest first. */
export function listProviderInvoices(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(providerInvoiceQueries, 'GET /api/audit/invoices'),
    onRequest: onlyAuditor,
    preHandler: upToDate(deps, 'channels'),
    handler: async () => {
      const { actors, db } = deps.core
      const { invoices } = await actors.peek(providerInvoicesDecider, PROVIDER_INVOICES_STREAM)
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
export function getProviderInvoice(app: App, deps: ReadDeps): void {
  const knownIds = new KnownIds(deps.core.db)
  app.route({
    ...endpoint(providerInvoiceQueries, 'GET /api/audit/invoices/:id'),
    onRequest: onlyAuditor,
    preHandler: waitForComparison(deps, 'usage-by-hour', 'reconciliation', 'channels'),
    handler: async ({ params, query }) => {
      const invoice = await findProviderInvoice(deps, params.id)
      const { db } = deps.core
      const state = await deps.core.actors.peek(providerInvoicesDecider, PROVIDER_INVOICES_STREAM)
      const [{ requests, items: all, total, models }, names, known_ids] = await Promise.all([
        compareProviderInvoice(db, invoice),
        channelNames(db, [invoice.channelId]),
        knownIds.count(invoice, state),
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
export function listProviderInvoiceRequests(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(providerInvoiceQueries, 'GET /api/audit/invoices/:id/requests'),
    onRequest: onlyAuditor,
    preHandler: waitForComparison(deps, 'reconciliation'),
    handler: async ({ params, query: { match, cursor, limit = PAGE_SIZE } }) => {
      const invoice = await findProviderInvoice(deps, params.id)
      const size = Number(limit)
      const page = { after: integerOf(cursor) ?? 0, limit: size + 1 }
      const matched = matchedProviderInvoiceOf(invoice)
      const { db } = deps.core
      const rows = await listRequests(db, matched, match, page)
      const items = rows.slice(0, size)
      return success({
        items: items.map((row) => requestOf(row, match, invoice)),
        next_cursor: rows.length > size ? String(items.at(-1)?.place) : null,
      })
    },
  })
}

/**
 * Lists the invoice lines with this match result. For `only_ours`, lists the calls that are not in
 * the invoice.
 */
export const listRequests = (
  db: CommonQueryMethods,
  invoice: MatchedProviderInvoice,
  match: RequestMatch,
  page: { readonly after: number; readonly limit: number },
): Promise<readonly RequestMatchRow[]> =>
  match === 'only_ours' ? listOnlyOurs(db, invoice, page) : listMatches(db, invoice, match, page)

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

export function requestOf(
  row: RequestMatchRow,
  match: RequestMatch,
  invoice: ProviderInvoice,
): ProviderInvoiceRequest {
  const { place, rows, upstreamId, day, model, amount, billed, tokens } = row
  const { call, userId, endedAt, callModel, callTokens, cost, charged } = row
  return {
    row: match === 'only_ours' ? 0 : place,
    rows,
    ...{ match, upstream_id: upstreamId, day, model, billed, billed_tokens: tokens },
    amount: amountText(amount, invoice),
    call:
      call === null
        ? null
        : {
            ...{ request_id: call, user_id: userId ?? 0, ended_at: endedAt ?? 0 },
            ...{ model: callModel ?? '', tokens: callTokens ?? 0, cost, charged: charged ?? 0 },
          },
    difference: call === null || cost === null ? null : billed - cost,
  }
}

type Count = { readonly others: string; readonly count: Promise<number> }

/**
 * Counts the request ids of an invoice that other invoices of the channel contain as well. The
 * lines of invoices never change, so the count is kept until another invoice is imported or
 * deleted. It is not kept while the read model lacks lines of one of the invoices.
 */
class KnownIds {
  private readonly db: CommonQueryMethods
  /** The counts by the id of the invoice. */
  private readonly counts = new Map<string, Count>()

  constructor(db: CommonQueryMethods) {
    this.db = db
  }

  count(invoice: ProviderInvoice, state: ProviderInvoicesState): Promise<number> {
    const ids = (invoice.requests ?? 0) === 0 ? [] : otherProviderInvoiceIds(state, invoice)
    if (ids.length === 0) return Promise.resolve(0)
    const { invoiceId } = invoice
    const others = ids.join()
    const kept = this.counts.get(invoiceId)
    if (kept?.others === others) return kept.count
    this.forgetDeleted(state)
    const count = this.read(invoice, ids, state)
    this.counts.set(invoiceId, { others, count })
    count.catch(() => this.forget(invoiceId, count))
    return count
  }

  private async read(
    { invoiceId }: ProviderInvoice,
    others: readonly string[],
    { invoices }: ProviderInvoicesState,
  ): Promise<number> {
    const ids = [invoiceId, ...others]
    const expected = invoices
      .filter((one) => ids.includes(one.invoiceId))
      .reduce((sum, { requests = 0 }) => sum + requests, 0)
    const isComplete = (await countLines(this.db, ids)) === expected
    const count = await countKnownIds(this.db, invoiceId, others)
    if (!isComplete) this.counts.delete(invoiceId)
    return count
  }

  private forget(invoiceId: string, count: Promise<number>): void {
    if (this.counts.get(invoiceId)?.count === count) this.counts.delete(invoiceId)
  }

  private forgetDeleted({ invoices }: ProviderInvoicesState): void {
    const existing = new Set(invoices.map(({ invoiceId }) => invoiceId))
    for (const id of this.counts.keys()) if (!existing.has(id)) this.counts.delete(id)
  }
}
