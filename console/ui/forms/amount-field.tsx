import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useStatus } from '#console/api/status.ts'
import {
  type AmountUnit,
  amountOfQuota,
  amountUnitOf,
  isInvalidAmount,
  quotaOfAmount,
} from '../quota/convert-entered-amount.ts'
import { type MoneyRule, quotaText } from '../quota/money.ts'
import { TextField } from './fields.tsx'

export function useAmountUnit(): AmountUnit {
  const { display_in_currency: isCurrency = true, quota_per_unit: perUnit = 500_000 } =
    useStatus() ?? {}
  return useMemo(() => amountUnitOf(isCurrency, perUnit), [isCurrency, perUnit])
}

/**
 * A field for an amount in dollars or in quota units, with buttons for common amounts. Below the
 * field, the amount is shown in the other unit.
 */
export function AmountField(props: {
  label: string
  unit: AmountUnit
  value: string
  error: string | undefined
  wrongText: string
  presetsLabel: string
  dollars: readonly bigint[]
  worth: { inMoney: (money: string) => string; inUnits: (quota: string) => string }
  /** Formats the amount in dollars. By default, the amount is rounded to cents. */
  moneyText?: (quota: bigint, rule: MoneyRule) => string
  isRequired?: boolean
  onChange: (amount: string) => void
}) {
  const { i18n } = useTranslation()
  const { label, unit, value, onChange, worth, moneyText = quotaText } = props
  const quota = quotaOfAmount(value, unit)
  const rule = { quotaPerUnit: unit.quotaPerUnit.toString(), isCurrency: true }
  const worthText = (amount: bigint): string =>
    unit.isCurrency
      ? worth.inUnits(amount.toLocaleString(i18n.language))
      : worth.inMoney(moneyText(amount, rule))
  return (
    <TextField
      label={label}
      hint={quota === null ? undefined : worthText(quota)}
      error={props.error ?? (isInvalidAmount(value, unit) ? props.wrongText : undefined)}
      isRequired={props.isRequired}
      inputMode="decimal"
      autoComplete="off"
      maxLength={24}
      presets={{
        label: props.presetsLabel,
        choices: props.dollars.map((dollars) => ({
          value: amountOfQuota(dollars * unit.quotaPerUnit, unit),
          text: `$${dollars}`,
        })),
      }}
      value={value}
      onChange={onChange}
    />
  )
}
