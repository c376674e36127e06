import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { FormField } from '#console/ui/forms/form-field.tsx'
import { TextInput } from '#console/ui/forms/inputs.tsx'
import { QuickPicks } from '#console/ui/forms/quick-picks.tsx'
import { Switch } from '#console/ui/forms/switches.tsx'
import { quotaText } from '#console/ui/quota/money.ts'
import { amountOfQuota, isNoAmount, quotaOfAmount } from '#console/ui/quota/quota-amount.ts'
import { faultText, type TokenFormProps } from './token-draft.ts'

const QUICK_DOLLARS = [1n, 10n, 50n, 100n, 500n, 1000n] as const

/** The token's budget, which is unlimited or an amount. Buttons set common amounts. */
export function TokenAmountFields(props: TokenFormProps): ReactElement {
  const { draft, faults, unit, onChange } = props
  const { t, i18n } = useTranslation()
  const quota = quotaOfAmount(draft.amount, unit)
  const rule = { quotaPerUnit: unit.quotaPerUnit.toString(), isCurrency: true }
  const typed = isNoAmount(draft.amount, unit) ? 'amountWrong' : undefined
  const fault = faults.amount ?? typed
  const hint = () => {
    if (quota === null) return undefined
    if (!unit.isCurrency) return t('tokens.amountMoney', { money: quotaText(quota, rule) })
    return t('tokens.amountHint', { quota: quota.toLocaleString(i18n.language) })
  }
  return (
    <>
      <Switch
        label={t('tokens.isUnlimited')}
        hint={t('tokens.isUnlimitedHint')}
        isOn={draft.isUnlimited}
        onChange={(isUnlimited) => onChange({ isUnlimited })}
      />
      {!draft.isUnlimited && (
        <FormField
          label={t(unit.isCurrency ? 'tokens.amountInCurrency' : 'tokens.amount')}
          hint={hint()}
          error={faultText(t, fault)}
        >
          {(control) => (
            <div className="tg-picked">
              <TextInput
                {...control}
                className="tg-input-short"
                inputMode="decimal"
                value={draft.amount}
                onChange={(amount) => onChange({ amount })}
              />
              <QuickPicks
                label={t('words.usualAmounts')}
                picks={QUICK_DOLLARS.map((dollars) => ({
                  value: amountOfQuota(dollars * unit.quotaPerUnit, unit),
                  text: `$${dollars}`,
                }))}
                chosen={draft.amount}
                onPick={(amount) => onChange({ amount })}
              />
            </div>
          )}
        </FormField>
      )}
    </>
  )
}
