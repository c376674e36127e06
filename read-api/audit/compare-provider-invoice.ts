import type { CommonQueryMethods } from 'slonik'
import { type AmountTerms, quotaOf } from '#domain/provider-invoices/amounts.ts'
import { amountText, DECIMALS, type ProviderInvoice } from '#domain/provider-invoices/events.ts'
import { periodOf } from '#domain/provider-invoices/period.ts'
import type { MatchedProviderInvoice } from '#projections/reconciliation/query.ts'
import { type ChannelDay, channelDays } from '#projections/usage/query.ts'
import {
  type Comparison,
  type ProviderInvoiceComparison,
  type ProviderInvoiceItem,
  REQUEST_MATCHES,
} from '../contract/provider-invoices.ts'
import type { InvoiceMatches, MatchedInvoices, MatchSum } from './matched-invoice-cache.ts'

/**
 * The figures of an invoice and the figures that this site recorded, for one day and model or as a
 * sum. `rows`, `billedTokens` and `amount` are from the invoice. All other figures are from this
 * site.
 */
type Figures = {
  rows: number
  billedTokens: number
  /** The amount in the invoice's currency, as an integer with the invoice's number of decimals. */
  amount: bigint
  calls: number
  tokens: number
  cost: number
  charged: number
}

const zeroFigures = (): Figures => ({
  ...{ rows: 0, billedTokens: 0, amount: 0n, calls: 0, tokens: 0, cost: 0, charged: 0 },
})

type Pair = { readonly day: string; readonly model: string; readonly figures: Figures }

/** A map from day and model to figures. `figuresFor` creates missing entries. */
class Pairs {
  private readonly pairs = new Map<string, Pair>()

  figuresFor(day: string, model: string): Figures {
    const key = `${day} ${model}`
    const pair = this.pairs.get(key) ?? { day, model, figures: zeroFigures() }
    this.pairs.set(key, pair)
    return pair.figures
  }

  sorted(): readonly Pair[] {
    return [...this.pairs].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, pair]) => pair)
  }
}

type ComparedRequests = Omit<NonNullable<ProviderInvoiceComparison['requests']>, 'known_ids'>
type Compared = Pick<ProviderInvoiceComparison, 'items' | 'total' | 'models'> & {
  readonly requests: ComparedRequests | null
}

/**
 * Compares an invoice with the calls that this site recorded for the channel of the invoice. An
 * invoice line that contains the id of a call is compared with this call. The remaining lines and
 * calls are compared as sums by day and model. Duplicate lines are ignored. Every other line, and
 * each call on the days of the invoice, is thus counted exactly once.
 */
export async function compareProviderInvoice(
  db: CommonQueryMethods,
  matches: MatchedInvoices,
  invoice: ProviderInvoice,
): Promise<Compared> {
  const matched = matchedProviderInvoiceOf(invoice)
  const { firstDay, lastDay, channelId } = matched
  const hasRequests = (invoice.requests ?? 0) > 0
  const [ours, { sums, onlyOurs }] = await Promise.all([
    channelDays(db, channelId, { from: firstDay, to: lastDay }),
    hasRequests ? matches.matchesOf(matched) : NO_MATCHES,
  ])
  const byId = sums.filter(({ match }) => match !== 'unknown' && match !== 'duplicate')
  const items = itemsOf(remainingFigures(invoice, ours, byId), matched)
  const whole = [
    ...remainingFigures(invoice, ours, []).sorted(),
    ...callsOutsideDays(byId, matched),
  ]
  return {
    requests: hasRequests ? requestsOf(invoice, sums, byId, onlyOurs) : null,
    items,
    total: wireFigures(sumOf(whole), invoice),
    models: [...Map.groupBy(whole, ({ model }) => model)].map(([model, pairs]) => ({
      model,
      ...wireFigures(sumOf(pairs), invoice),
    })),
  }
}

const NO_MATCHES: InvoiceMatches = { sums: [], onlyOurs: 0 }

/**
 * Returns the fields of an invoice that are needed to match the invoice with calls. If an invoice
 * has no period, the last day is set to the day before the first day. The invoice then covers no
 * day.
 */
export function matchedProviderInvoiceOf(invoice: ProviderInvoice): MatchedProviderInvoice {
  const { invoiceId, channelId, dollars, decimals = DECIMALS, lines } = invoice
  return {
    ...{ invoiceId, channelId, dollars, decimals },
    ...daysOf(invoice),
    hasTokens: lines.some(({ tokens }) => tokens !== 0),
  }
}

function daysOf(invoice: ProviderInvoice): { readonly firstDay: number; readonly lastDay: number } {
  const period = periodOf(invoice)
  if (period !== null) {
    return { firstDay: secondsOf(period.firstDay), lastDay: secondsOf(period.lastDay) }
  }
  const firstDay = secondsOf(invoice.lines[0]?.day ?? '')
  return { firstDay, lastDay: firstDay - DAY_SECONDS }
}

const DAY_SECONDS = 86_400
const secondsOf = (day: string): number => Date.parse(`${day}T00:00:00Z`) / 1_000
const dayOf = (seconds: number): string => new Date(seconds * 1_000).toISOString().slice(0, 10)

/**
 * Returns the figures of the invoice and of this site for each day and model. Leaves out the lines
 * and calls that were already compared by their ids (`byId`).
 */
function remainingFigures(
  invoice: ProviderInvoice,
  ours: readonly ChannelDay[],
  byId: readonly MatchSum[],
): Pairs {
  const pairs = new Pairs()
  for (const { day, model, rows, tokens, amount } of invoice.lines) {
    const pair = pairs.figuresFor(day, model)
    pair.rows += rows
    pair.billedTokens += tokens
    pair.amount += BigInt(amount)
  }
  for (const { day, model, ...own } of ours) addOurs(pairs.figuresFor(day, model), own, 1)
  const range = matchedProviderInvoiceOf(invoice)
  for (const sum of byId) {
    const theirs = pairs.figuresFor(sum.day, sum.model)
    theirs.rows -= sum.rows
    theirs.billedTokens -= sum.tokens
    theirs.amount -= sum.amount
    const { callDay, callModel } = sum
    if (callDay === null || !isWithin(callDay, range)) continue
    addOurs(pairs.figuresFor(dayOf(callDay), callModel ?? ''), oursOf(sum), -1)
  }
  return pairs
}

const isWithin = (day: number, { firstDay, lastDay }: MatchedProviderInvoice): boolean =>
  day >= firstDay && day <= lastDay

type Ours = Pick<Figures, 'calls' | 'tokens' | 'cost' | 'charged'>

const oursOf = ({ calls, callTokens: tokens, cost, charged }: MatchSum): Ours => ({
  ...{ calls, tokens, cost, charged },
})

function addOurs(figures: Figures, own: Ours, sign: 1 | -1): void {
  figures.calls += sign * own.calls
  figures.tokens += sign * own.tokens
  figures.cost += sign * own.cost
  figures.charged += sign * own.charged
}

/**
 * Returns the sums of calls that have an invoice line but ended before or after the days of the
 * invoice.
 */
function callsOutsideDays(byId: readonly MatchSum[], range: MatchedProviderInvoice): Pair[] {
  return byId.flatMap((sum) => {
    const { callDay, callModel } = sum
    if (callDay === null || isWithin(callDay, range)) return []
    const figures = { ...zeroFigures(), ...oursOf(sum) }
    return [{ day: dayOf(callDay), model: callModel ?? '', figures }]
  })
}

/**
 * Returns the sums of the lines that were matched to attempts by their ids, and of the charged
 * calls among these attempts. Also returns the number of request ids for each match result.
 */
function requestsOf(
  invoice: ProviderInvoice,
  sums: readonly MatchSum[],
  byId: readonly MatchSum[],
  onlyOurs: number,
): ComparedRequests {
  const counts = new Map(REQUEST_MATCHES.map((match) => [match as string, 0]))
  for (const { match, ids } of sums) counts.set(match, (counts.get(match) ?? 0) + ids)
  counts.set('only_ours', onlyOurs)
  const figures = zeroFigures()
  for (const sum of byId) {
    figures.rows += sum.rows
    figures.billedTokens += sum.tokens
    figures.amount += sum.amount
    addOurs(figures, oursOf(sum), 1)
  }
  return {
    counts: Object.fromEntries(counts),
    ...wireFigures(figures, invoice),
    duplicates_billed: quotaOf(BigInt(invoice.duplicatesAmount ?? 0), invoice),
  }
}

function itemsOf(
  pairs: Pairs,
  { hasTokens, ...terms }: MatchedProviderInvoice,
): ProviderInvoiceItem[] {
  return pairs.sorted().flatMap(({ day, model, figures }): ProviderInvoiceItem[] => {
    const { rows, calls, billedTokens, tokens, cost } = figures
    if (rows === 0 && calls === 0) return []
    const wire = wireFigures(figures, terms)
    const isSame = (!hasTokens || isNear(billedTokens, tokens)) && isNear(wire.billed, cost)
    return [{ day, model, comparison: comparisonOf(rows > 0, calls > 0, isSame), ...wire }]
  })
}

function comparisonOf(isTheirs: boolean, isOurs: boolean, isSame: boolean): Comparison {
  if (!isOurs) return 'only_theirs'
  if (!isTheirs) return 'only_ours'
  return isSame ? 'matched' : 'different'
}

/**
 * Reports whether two figures count as equal. A difference of at most one percent is allowed,
 * because providers round each row.
 */
const isNear = (one: number, other: number): boolean =>
  Math.abs(one - other) * 100 <= Math.max(Math.abs(one), Math.abs(other))

function sumOf(pairs: readonly Pair[]): Figures {
  const sum = zeroFigures()
  for (const { figures } of pairs) {
    sum.rows += figures.rows
    sum.billedTokens += figures.billedTokens
    sum.amount += figures.amount
    addOurs(sum, figures, 1)
  }
  return sum
}

/**
 * Converts figures to the form of a response. The amount is converted to quota and rounded once.
 * The rounded amounts of single days or models may therefore not add up to the rounded amount of
 * their sum.
 */
function wireFigures({ amount, billedTokens, ...own }: Figures, terms: AmountTerms) {
  const billed = quotaOf(amount, terms)
  const margin = own.charged - billed
  return { ...own, billed_tokens: billedTokens, billed, amount: amountText(amount, terms), margin }
}
