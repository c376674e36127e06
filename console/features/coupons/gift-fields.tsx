import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { FormField } from '#console/ui/form-field.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import type { CouponFormProps } from './coupon-draft.ts'

type Fields = Pick<CouponFormProps, 'draft' | 'faults' | 'used' | 'onChange'>

/** How many users may have it. */
export function GiftFields({ draft, faults, used, onChange }: Fields): ReactElement {
  const { t } = useTranslation()
  return (
    <FormField
      label={t('coupons.maxUses')}
      hint={used > 0 ? t('coupons.usedAlready', { count: used }) : t('coupons.maxUsesHint')}
      error={faults.maxUses && t(`coupons.fault.${faults.maxUses}`)}
    >
      {(control) => (
        <TextInput
          {...control}
          className="tg-input-short"
          inputMode="numeric"
          placeholder={t('coupons.unlimited')}
          value={draft.maxUses}
          onChange={(maxUses) => onChange({ maxUses })}
        />
      )}
    </FormField>
  )
}

/** From when to when it may be had. */
export function ValidityFields(props: Fields): ReactElement {
  return (
    <div className="tg-coupon-dates">
      <DateField {...props} field="validFrom" />
      <DateField {...props} field="validUntil" />
    </div>
  )
}

function DateField(props: Fields & { field: 'validFrom' | 'validUntil' }): ReactElement {
  const { t } = useTranslation()
  const { draft, faults, field, onChange } = props
  const fault = faults[field]
  return (
    <FormField
      label={t(`coupons.${field}`)}
      hint={t(`coupons.${field}Hint`)}
      error={fault && t(`coupons.fault.${fault}`)}
    >
      {(control) => (
        <TextInput
          {...control}
          type="datetime-local"
          className="tg-input-date"
          max="9999-12-31T23:59"
          value={draft[field]}
          onChange={(text) => onChange({ [field]: text })}
        />
      )}
    </FormField>
  )
}
