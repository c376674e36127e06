import { useMemo } from 'react'
import { useSharedStatus } from '#console/api/status.ts'
import { DEFAULT_RULE, exactQuotaText, type MoneyRule, quotaText } from './money.ts'

/**
 * Returns how the site shows quota, in dollars or in quota units. Until the site's status has
 * loaded, returns the default.
 */
export function useMoneyRule(): MoneyRule {
  const status = useSharedStatus()
  const perUnit = status?.quota_per_unit
  const isCurrency = status?.display_in_currency
  return useMemo(
    () => ({
      quotaPerUnit:
        perUnit !== undefined && perUnit > 0 ? String(perUnit) : DEFAULT_RULE.quotaPerUnit,
      isCurrency: isCurrency ?? DEFAULT_RULE.isCurrency,
    }),
    [perUnit, isCurrency],
  )
}

export function Quota(props: { value: bigint; digits?: number }) {
  const rule = useMoneyRule()
  return (
    <span className="tg-amount" title={exactQuotaText(props.value, rule)}>
      {quotaText(props.value, rule, props.digits)}
    </span>
  )
}
