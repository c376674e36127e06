import { useMemo } from 'react'
import { useSharedStatus } from '#console/api/status.ts'
import { AmountText } from './amount-text.tsx'
import { DEFAULT_RULE, exactQuotaText, type MoneyRule, quotaText } from './money.ts'

/**
 * Returns whether the site shows quota in dollars or in quota units, and the number of quota units
 * per dollar. Until the status of the site has loaded, returns the default.
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
    <AmountText
      text={quotaText(props.value, rule, props.digits)}
      title={exactQuotaText(props.value, rule)}
    />
  )
}
