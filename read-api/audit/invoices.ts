import { INVOICES_STREAM, type Invoice, invoicesDecider } from '#domain/invoices/events.ts'
import { decimalOf } from '#domain/pricing/decimal.ts'
import { QUOTA_PER_DOLLAR, toWire } from '#domain/shared/quota.ts'
import { onlyAuditor } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { type ChannelDay, channelDays } from '#projections/usage/query.ts'
import {
  COMPARISONS,
  type Comparison,
  type InvoiceItem,
  invoiceQueries,
} from '../contract/invoices.ts'
import { type App, integerOf, type ReadDeps, upToDate } from '../read-route-helpers.ts'
import { auditError } from './audit-errors.ts'

const PAGE_SIZE = 50
const BILLIONTHS = 1_000_000_000n

/** `GET /api/audit/invoices`: the imported invoices, newest first. */
export function listInvoices(app: App, { core }: ReadDeps): void {
  app.route({
    ...endpoint(invoiceQueries, 'GET /api/audit/invoices'),
    onRequest: onlyAuditor,
    handler: async () => {
      const { invoices } = await core.actors.peek(invoicesDecider, INVOICES_STREAM)
      return success(invoices.map(summaryOf).reverse())
    },
  })
}

/** `GET /api/audit/invoices/:id`: an invoice beside what this site recorded for its channel. */
export function getInvoice(app: App, deps: ReadDeps): void {
  const { core } = deps
  app.route({
    ...endpoint(invoiceQueries, 'GET /api/audit/invoices/:id'),
    onRequest: onlyAuditor,
    preHandler: upToDate(deps, 'usage-by-hour'),
    handler: async ({ params, query }) => {
      const { invoices } = await core.actors.peek(invoicesDecider, INVOICES_STREAM)
      const invoice = invoices.find(({ invoiceId }) => invoiceId === params.id)
      if (invoice === undefined) throw auditError('ObjectUnknown')
      const summary = summaryOf(invoice)
      const { channelId } = invoice
      const days = { from: secondsOf(summary.first_day), to: secondsOf(summary.last_day) }
      const ours = await channelDays(core.db, channelId, days)
      const all = compare(invoice, ours)
      const counts = Object.fromEntries(
        COMPARISONS.map((one) => [one, all.filter((item) => item.comparison === one).length]),
      )
      const { comparison = '' } = query
      const selected = all.filter((item) => comparison === '' || item.comparison === comparison)
      const start = integerOf(query.cursor) ?? 0
      const end = start + Number(query.limit ?? PAGE_SIZE)
      const models = Map.groupBy(all, ({ model }) => model)
      return success({
        ...summary,
        counts,
        total: sumOf(all),
        models: [...models].map(([model, items]) => ({ model, ...sumOf(items) })),
        items: selected.slice(start, end),
        next_cursor: end < selected.length ? String(end) : null,
      })
    },
  })
}

const secondsOf = (day: string): number => Date.parse(`${day}T00:00:00Z`) / 1_000

function summaryOf(invoice: Invoice) {
  const { invoiceId: id, channelId: channel_id, digest, bytes, rows, duplicates } = invoice
  const { currency, dollars, lines, importedAt } = invoice
  const amount = lines.reduce((sum, line) => sum + BigInt(line.amount), 0n)
  return {
    ...{ id, channel_id, digest, bytes, rows, duplicates, currency, dollars },
    first_day: lines[0]?.day ?? '',
    last_day: lines.at(-1)?.day ?? '',
    billed: quotaOf(amount, dollars),
    imported_at: Math.floor(importedAt / 1_000),
  }
}

/** Converts billionths of the currency to quota, rounded to the nearest unit. */
function quotaOf(amount: bigint, dollars: string): number {
  const { units, scale } = decimalOf(dollars)
  const divisor = BILLIONTHS * 10n ** BigInt(scale)
  const size = (amount < 0n ? -amount : amount) * units * QUOTA_PER_DOLLAR
  const rounded = (2n * size + divisor) / (2n * divisor)
  return toWire(amount < 0n ? -rounded : rounded)
}

/** Compares each pair of day and model that the invoice or this site has, in their order. */
function compare(invoice: Invoice, ours: readonly ChannelDay[]): readonly InvoiceItem[] {
  const theirs = new Map(invoice.lines.map((line) => [`${line.day} ${line.model}`, line]))
  const own = new Map(ours.map((one) => [`${one.day} ${one.model}`, one]))
  const hasTokens = invoice.lines.some(({ tokens }) => tokens > 0)
  return [...new Set([...theirs.keys(), ...own.keys()])].sort().map((key): InvoiceItem => {
    const [line, mine] = [theirs.get(key), own.get(key)]
    const { day, model } = line ?? mine ?? { day: '', model: '' }
    const billed = quotaOf(BigInt(line?.amount ?? 0), invoice.dollars)
    const { calls = 0, tokens = 0, cost = 0, charged = 0 } = mine ?? {}
    const billedTokens = line?.tokens ?? 0
    const isSame = (!hasTokens || isNear(billedTokens, tokens)) && isNear(billed, cost)
    const comparison = comparisonOf(line !== undefined, mine !== undefined, isSame)
    const figures = { rows: line?.rows ?? 0, billed_tokens: billedTokens, billed }
    const margin = charged - billed
    return { day, model, comparison, ...figures, calls, tokens, cost, charged, margin }
  })
}

function comparisonOf(isTheirs: boolean, isOurs: boolean, isSame: boolean): Comparison {
  if (!isOurs) return 'only_theirs'
  if (!isTheirs) return 'only_ours'
  return isSame ? 'matched' : 'different'
}

/** Providers round each row, so figures that differ by less than one percent are the same. */
const isNear = (one: number, other: number): boolean =>
  Math.abs(one - other) * 100 <= Math.max(Math.abs(one), Math.abs(other))

const FIGURES = [
  ...(['rows', 'billed_tokens', 'billed', 'calls', 'tokens', 'cost'] as const),
  ...(['charged', 'margin'] as const),
] as const

const sumOf = (items: readonly InvoiceItem[]) =>
  Object.fromEntries(
    FIGURES.map((name) => [name, items.reduce((sum, item) => sum + item[name], 0)]),
  ) as Record<(typeof FIGURES)[number], number>
