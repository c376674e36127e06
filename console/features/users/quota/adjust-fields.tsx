import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { FormField } from '#console/ui/form-field.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import { exactQuotaText } from '#console/ui/money.ts'
import { QuickPicks } from '#console/ui/quick-picks.tsx'
import { amountOfQuota, isNoAmount } from '#console/ui/quota-amount.ts'
import { Segmented } from '#console/ui/switches.tsx'
import { ReasonField } from '../reason-field.tsx'
import type { AdjustForm } from './use-adjustment.ts'

const QUICK_DOLLARS = [1n, 5n, 10n, 50n, 100n] as const

/** Add or deduct, how much, and why. */
export function AdjustFields({ form }: { form: AdjustForm }): ReactElement {
  const { t } = useTranslation()
  const { draft, faults, onChange } = form
  return (
    <>
      <div className="tg-field">
        <Segmented
          label={t('users.adjustKind')}
          value={draft.action}
          choices={[
            { value: 'add', label: t('users.adjustAdd') },
            { value: 'deduct', label: t('users.adjustDeduct') },
          ]}
          onChange={(action) => onChange({ action })}
        />
      </div>
      <AmountField form={form} />
      <ReasonField
        value={draft.reason}
        error={faults.reason && t('users.fault.adjustReasonMissing')}
        placeholder={t('users.reasonPlaceholder')}
        onChange={(reason) => onChange({ reason })}
      />
    </>
  )
}

function AmountField({ form }: { form: AdjustForm }): ReactElement {
  const { t, i18n } = useTranslation()
  const { draft, unit, amount, onChange } = form
  const typed = isNoAmount(draft.amount, unit) ? 'amountWrong' : undefined
  const fault = form.faults.amount ?? typed
  const rule = { quotaPerUnit: unit.quotaPerUnit.toString(), isCurrency: true }
  const hint = () => {
    if (amount === null) return undefined
    if (!unit.isCurrency) return t('users.adjustMoney', { money: exactQuotaText(amount, rule) })
    return t('users.adjustUnits', { quota: amount.toLocaleString(i18n.language) })
  }
  return (
    <FormField
      label={t(unit.isCurrency ? 'users.amountInDollars' : 'users.amountInUnits')}
      hint={hint()}
      error={fault && t(`users.fault.${fault}`)}
      isRequired
    >
      {(control) => (
        <div className="tg-picked">
          <TextInput
            {...control}
            className="tg-input-short"
            inputMode="decimal"
            autoComplete="off"
            maxLength={24}
            value={draft.amount}
            onChange={(text) => onChange({ amount: text })}
          />
          <QuickPicks
            label={t('users.quickAmounts')}
            picks={QUICK_DOLLARS.map((dollars) => ({
              value: amountOfQuota(dollars * unit.quotaPerUnit, unit),
              text: `$${dollars}`,
            }))}
            chosen={draft.amount}
            onPick={(text) => onChange({ amount: text })}
          />
        </div>
      )}
    </FormField>
  )
}
