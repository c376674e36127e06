import { isInRange, quotaOf } from '#domain/provider-invoices/amounts.ts'
import type { ProviderInvoice, ProviderInvoiceLine } from '#domain/provider-invoices/events.ts'
import { onlyAuditor } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import { success } from '#infra/http/response-envelope.ts'
import { channelNames } from '#projections/channels/query.ts'
import { chargesByChannel } from '#projections/usage/query.ts'
import { type MarginItem, type Margins, marginQueries } from '../contract/margins.ts'
import {
  type App,
  integerOf,
  type ReadDeps,
  upToDate,
} from '../read-dependencies-and-query-parameters.ts'
import { matchedProviderInvoiceOf } from './compare-provider-invoice.ts'
import { importedInvoices } from './find-provider-invoice.ts'

const PAGE_SIZE = 50
const DAYS_MAX = 366
const DAY_SECONDS = 86_400

/**
 * `GET /api/audit/margins`: the charges of users and the bills of providers, by channel and model.
 * On days without an invoice, the expected cost is computed with the cost ratio of the channel.
 */
export function getMargins(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(marginQueries, 'GET /api/audit/margins'),
    onRequest: onlyAuditor,
    preHandler: upToDate(deps, 'usage-by-hour', 'channels'),
    handler: async ({ query }) => {
      const days = daysOf(query.first_day, query.last_day)
      const invoices = await importedInvoices(deps.core.actors)
      const ofDays = invoices.filter((invoice) => isInDays(invoice, days))
      const billing = ofDays.filter(isInRange)
      const refused = ofDays.filter((invoice) => !isInRange(invoice))
      const items = await marginItems(deps, billing, days)
      const start = integerOf(query.cursor) ?? 0
      const end = start + Number(query.limit ?? PAGE_SIZE)
      return success({
        ...{ first_day: query.first_day, last_day: query.last_day, total: sumOf(items) },
        overlapping_channels: overlappingChannels(billing, days),
        out_of_range_channels: sortedIds(refused.map(({ channelId }) => channelId)),
        items: items.slice(start, end),
        next_cursor: end < items.length ? String(end) : null,
      })
    },
  })
}

/** The starts of the first and the last day, in Unix seconds. */
type Days = { readonly from: number; readonly to: number }

function daysOf(first: string, last: string): Days {
  const [from, to] = [secondsOf('first_day', first), secondsOf('last_day', last)]
  if (to < from) {
    throw invalidField('last_day', {
      ...{ zh: '不能早于 first_day', en: 'must not be before first_day' },
    })
  }
  if (to - from >= DAYS_MAX * DAY_SECONDS) {
    throw invalidField('last_day', {
      ...{ zh: `一次最多 ${DAYS_MAX} 天`, en: `a range has at most ${DAYS_MAX} days` },
    })
  }
  return { from, to }
}

function secondsOf(field: string, day: string): number {
  const time = Date.parse(`${day}T00:00:00Z`)
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== day) {
    throw invalidField(field, { zh: '该日期不存在', en: 'there is no such day' })
  }
  return time / 1_000
}

function isInDays(invoice: ProviderInvoice, days: Days): boolean {
  const { firstDay, lastDay } = matchedProviderInvoiceOf(invoice)
  const isCovering = firstDay <= lastDay && firstDay <= days.to && lastDay >= days.from
  return isCovering || linesIn(invoice, days).length > 0
}

const linesIn = ({ lines }: ProviderInvoice, { from, to }: Days): readonly ProviderInvoiceLine[] =>
  lines.filter(({ day }) => {
    const start = Date.parse(`${day}T00:00:00Z`) / 1_000
    return start >= from && start <= to
  })

/** Returns the channels that have two or more invoices for the same day of the range. */
function overlappingChannels(invoices: readonly ProviderInvoice[], { from, to }: Days): number[] {
  const found: number[] = []
  for (const [channelId, own] of Map.groupBy(invoices, (invoice) => invoice.channelId)) {
    const ranges = own
      .map(matchedProviderInvoiceOf)
      .filter(({ firstDay, lastDay }) => firstDay <= lastDay)
      .sort((one, other) => one.firstDay - other.firstDay)
    let billedUntil = Number.NEGATIVE_INFINITY
    for (const { firstDay, lastDay } of ranges) {
      if (Math.max(firstDay, from) <= Math.min(billedUntil, to)) {
        found.push(channelId)
        break
      }
      billedUntil = Math.max(billedUntil, lastDay)
    }
  }
  return sortedIds(found)
}

const sortedIds = (ids: readonly number[]): number[] =>
  [...new Set(ids)].sort((one, other) => one - other)

/** Returns one item per channel and model, the highest charges first. */
async function marginItems(
  { core: { db } }: ReadDeps,
  invoices: readonly ProviderInvoice[],
  days: Days,
): Promise<MarginItem[]> {
  const [charges, names] = await Promise.all([
    chargesByChannel(db, days, invoices.map(matchedProviderInvoiceOf)),
    channelNames(
      db,
      invoices.map(({ channelId }) => channelId),
    ),
  ])
  const items = new Map<string, MarginItem>()
  for (const { channelId, name, model, calls, charged, invoiced, expected, costed } of charges) {
    const uncosted = charged - invoiced - costed
    items.set(`${channelId} ${model}`, {
      ...{ channel_id: channelId, channel_name: name, model, calls, charged, invoiced },
      ...{ billed: 0, expected, uncosted, margin: charged - uncosted - expected },
    })
  }
  for (const { channelId, model, billed } of invoices.flatMap((one) => billsOf(one, days))) {
    const key = `${channelId} ${model}`
    const item = items.get(key) ?? noCharges(channelId, names.get(channelId) ?? '', model)
    items.set(key, { ...item, billed: item.billed + billed, margin: item.margin - billed })
  }
  return [...items.values()].sort(byCharge)
}

type Bill = { readonly channelId: number; readonly model: string; readonly billed: number }

/**
 * Sums the lines of an invoice by model, for the days in the range. Each sum is rounded to quota
 * once.
 */
function billsOf(invoice: ProviderInvoice, days: Days): Bill[] {
  const { channelId } = invoice
  return [...Map.groupBy(linesIn(invoice, days), ({ model }) => model)].map(([model, own]) => {
    const amount = own.reduce((sum, line) => sum + BigInt(line.amount), 0n)
    return { channelId, model, billed: quotaOf(amount, invoice) }
  })
}

const NO_FIGURES: Margins['total'] = {
  ...{ calls: 0, charged: 0, invoiced: 0, billed: 0, expected: 0, uncosted: 0, margin: 0 },
}

const noCharges = (channelId: number, name: string, model: string): MarginItem => ({
  ...{ channel_id: channelId, channel_name: name, model, ...NO_FIGURES },
})

const byCharge = (one: MarginItem, other: MarginItem): number =>
  other.charged - one.charged ||
  other.billed - one.billed ||
  one.channel_id - other.channel_id ||
  (one.model < other.model ? -1 : 1)

function sumOf(items: readonly MarginItem[]): Margins['total'] {
  const total = { ...NO_FIGURES }
  const names = Object.keys(NO_FIGURES) as (keyof Margins['total'])[]
  for (const item of items) for (const name of names) total[name] += item[name]
  return total
}
