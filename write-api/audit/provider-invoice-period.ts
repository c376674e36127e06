import type { Period, ProviderInvoice } from '#domain/provider-invoices/events.ts'
import { gapOf } from '#domain/provider-invoices/period.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import type { ImportProviderInvoice } from '../contract/provider-invoices.ts'
import { utcDayOf } from './read-provider-invoice-row.ts'

const DAYS_MAX = 366
const DAY_MS = 86_400_000

/**
 * Returns the period that an import names, or undefined if it names none. Throws if the period is
 * invalid.
 */
export function periodIn(query: ImportProviderInvoice): Period | undefined {
  const { first_day: firstDay, last_day: lastDay } = query
  if (firstDay === undefined && lastDay === undefined) return undefined
  const [first, last] = [startOf('first_day', firstDay), startOf('last_day', lastDay)]
  if (last < first) {
    throw invalidField('last_day', {
      ...{ zh: '不能早于 first_day', en: 'must not be before first_day' },
    })
  }
  if (last - first >= DAYS_MAX * DAY_MS) {
    throw invalidField('last_day', {
      ...{ zh: `一次最多 ${DAYS_MAX} 天`, en: `a range has at most ${DAYS_MAX} days` },
    })
  }
  return { firstDay: firstDay ?? '', lastDay: lastDay ?? '' }
}

function startOf(field: string, day: string | undefined): number {
  if (day === undefined) {
    throw invalidField(field, {
      ...{ zh: '开始日期与结束日期须同时填写', en: 'is required, because the other day is given' },
    })
  }
  if (utcDayOf(day) === null) {
    throw invalidField(field, { zh: '该日期不存在', en: 'there is no such day' })
  }
  return Date.parse(day)
}

/**
 * Throws if no row is in the named period. If the import names no period, throws if there is a gap
 * of more than seven days without usage. Rows before such a gap may be corrections of earlier
 * invoices.
 */
export function checkPeriod(period: Period | undefined, lines: ProviderInvoice['lines']): void {
  if (period === undefined) {
    const [before, after] = gapOf(lines) ?? []
    if (before === undefined) return
    throw invalidField('first_day', {
      zh: `必填：${before} 与 ${after} 之间没有用量，较早的行可能是对以往账单的更正`,
      en: `is required: ${before} to ${after} has no usage, so earlier rows may be corrections`,
    })
  }
  const { firstDay, lastDay } = period
  if (lines.some(({ day }) => day >= firstDay && day <= lastDay)) return
  throw invalidField('first_day', {
    ...{ zh: '文件中没有这些日期的行', en: 'the file has no row on these days' },
  })
}
