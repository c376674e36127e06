import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { parseOtherField, rowOfCallQuery } from '#console/api/usage-log-queries.ts'
import { listedPriceOf, priceProperty } from '#console/ui/quota/listed-price.ts'
import { exactQuotaText } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import type { LogEntry } from '#read-api/contract/logs.ts'

/**
 * Returns the row of a task's bill in the usage log, or null while it is not loaded. It is not
 * requested until the task has ended, because only the hold of the task is known until then.
 */
export function useBillOfTask(task: string, isEnded: boolean, isAdmin: boolean): LogEntry | null {
  const query = rowOfCallQuery(task, isAdmin ? 'all' : 'self')
  return useQuery({ ...query, enabled: isEnded }).data ?? null
}

export function ChargeOfTask({ bill }: { bill: LogEntry }) {
  const rule = useMoneyRule()
  return <>{exactQuotaText(BigInt(bill.quota), rule)}</>
}

/** Reports whether a bill has a listed price. A failed task has none, nor has a price by tokens. */
export const hasListedPrice = (bill: LogEntry): boolean =>
  parseOtherField(bill).price?.price !== undefined

/** The listed price of a task, and the ratios by which it was multiplied. */
export function PriceOfTask({ bill }: { bill: LogEntry }) {
  const { t } = useTranslation()
  const { price } = parseOtherField(bill)
  if (price?.price === undefined) return null
  const listed = listedPriceOf(price)
  const unit = t(price.per === 'second' ? 'ui.perSecond' : 'ui.perCall')
  const { group = '1' } = price
  const ratios = [
    ...listed.properties.map((one) => `×${one.ratio} ${priceProperty(t, one)}`),
    ...(group === '1' ? [] : [`×${group} ${t('shared.factor.group')}`]),
  ]
  return <>{[`$${listed.price} ${unit}`, ...ratios].join(' · ')}</>
}
