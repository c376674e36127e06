import type { Period, ProviderInvoice } from './events.ts'

/**
 * Returns the period that an invoice covers: the days whose costs are known from this invoice. If
 * the admin did not name the period, it extends from the first to the last day with usage. Returns
 * null for an invoice that has only credits. Rows outside the period also count as costs of their
 * days. Such rows are credits, or corrections of costs that were estimated or that another invoice
 * contains.
 */
export function periodOf({
  period,
  lines,
}: Pick<ProviderInvoice, 'period' | 'lines'>): Period | null {
  if (period !== undefined) return period
  const days = usageDaysOf(lines)
  const [firstDay, lastDay] = [days[0], days.at(-1)]
  return firstDay === undefined || lastDay === undefined ? null : { firstDay, lastDay }
}

/** Returns the days of the lines that are not credits, in order. */
const usageDaysOf = (lines: ProviderInvoice['lines']): string[] => [
  ...new Set(lines.filter(({ amount }) => amount >= 0).map(({ day }) => day)),
]

const GAP_MAX_DAYS = 7
const DAY_MS = 86_400_000

/**
 * Returns the last day with usage before a gap of more than `GAP_MAX_DAYS` days, and the first day
 * with usage after the gap. Returns null if there is no such gap. If there is one, the admin must
 * name the period, because the days before the gap may be corrections of an earlier invoice.
 */
export function gapOf(
  lines: ProviderInvoice['lines'],
): readonly [before: string, after: string] | null {
  const days = usageDaysOf(lines)
  for (const [index, after] of days.entries()) {
    const before = days[index - 1]
    if (before === undefined) continue
    if (Date.parse(after) - Date.parse(before) > (GAP_MAX_DAYS + 1) * DAY_MS) return [before, after]
  }
  return null
}
