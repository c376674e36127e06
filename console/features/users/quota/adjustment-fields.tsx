import { useTranslation } from 'react-i18next'
import { AmountField } from '#console/ui/forms/amount-field.tsx'
import { Segmented } from '#console/ui/forms/choice-inputs.tsx'
import { exactQuotaText } from '#console/ui/quota/money.ts'
import { ReasonField } from '../reason-field.tsx'
import type { Adjustment } from './use-adjustment.ts'

const DOLLARS = [1n, 5n, 10n, 50n, 100n] as const

export function AdjustmentFields({ form, unit }: Pick<Adjustment, 'form' | 'unit'>) {
  const { t } = useTranslation()
  return (
    <>
      <div className="tg-field">
        <Segmented
          label={t('users.adjustKind')}
          choices={[
            { value: 'add', label: t('users.adjustAdd') },
            { value: 'deduct', label: t('users.adjustDeduct') },
          ]}
          {...form.field('action')}
        />
      </div>
      <AmountField
        label={t(unit.isCurrency ? 'users.amountInDollars' : 'users.amountInUnits')}
        unit={unit}
        wrongText={t('users.error.amountInvalid')}
        presetsLabel={t('users.quickAmounts')}
        dollars={DOLLARS}
        worth={{
          inMoney: (money) => t('users.adjustMoney', { money }),
          inUnits: (quota) => t('users.adjustUnits', { quota }),
        }}
        moneyText={exactQuotaText}
        isRequired
        {...form.field('amount')}
      />
      <ReasonField placeholder={t('users.reasonPlaceholder')} {...form.field('reason')} />
    </>
  )
}
