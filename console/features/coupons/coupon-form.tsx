import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { FormField } from '#console/ui/form-field.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import { quotaText } from '#console/ui/money.ts'
import { QuickPicks } from '#console/ui/quick-picks.tsx'
import { amountOfQuota, isNoAmount, quotaOfAmount } from '#console/ui/quota-amount.ts'
import { Switch } from '#console/ui/switches.tsx'
import { type CouponFormProps, NAME_MAX } from './coupon-draft.ts'
import { GiftFields, ValidityFields } from './gift-fields.tsx'

const DOLLARS = [1n, 10n, 50n, 100n, 500n, 1000n] as const
const COUNTS = ['1', '10', '20', '50', '100'] as const

/** Every field of a code: what it is worth and how many, who may have it, and when. */
export function CouponForm(props: CouponFormProps): ReactElement {
  const { t } = useTranslation()
  const { draft, faults, onChange } = props
  return (
    <>
      <fieldset className="tg-form-group">
        <legend>{t('coupons.basics')}</legend>
        <FormField
          label={t('coupons.name')}
          hint={t('coupons.nameHint')}
          error={faults.name && t(`coupons.fault.${faults.name}`)}
          isRequired
        >
          {(control) => (
            <TextInput
              {...control}
              autoFocus
              maxLength={NAME_MAX * 2}
              placeholder={t('coupons.namePlaceholder')}
              value={draft.name}
              onChange={(name) => onChange({ name })}
            />
          )}
        </FormField>
        <AmountField {...props} />
        {props.isNew && <CountField {...props} />}
        {props.isNew && <KeyField {...props} />}
      </fieldset>
      <fieldset className="tg-form-group">
        <legend>{t('coupons.terms')}</legend>
        <Switch
          label={t('coupons.isGift')}
          hint={t(props.used > 0 ? 'coupons.giftInUse' : 'coupons.isGiftHint')}
          isOn={draft.isGift}
          isDisabled={props.used > 0}
          onChange={(isGift) => onChange({ isGift })}
        />
        {draft.isGift && <GiftFields {...props} />}
        <ValidityFields {...props} />
      </fieldset>
    </>
  )
}

function AmountField({ draft, faults, unit, onChange }: CouponFormProps): ReactElement {
  const { t, i18n } = useTranslation()
  const quota = quotaOfAmount(draft.amount, unit)
  const rule = { quotaPerUnit: unit.quotaPerUnit.toString(), isCurrency: true }
  const typed = isNoAmount(draft.amount, unit) ? 'amountWrong' : undefined
  const fault = faults.amount ?? typed
  const hint = () => {
    if (quota === null) return undefined
    if (!unit.isCurrency) return t('coupons.amountMoney', { money: quotaText(quota, rule) })
    return t('coupons.amountHint', { quota: quota.toLocaleString(i18n.language) })
  }
  return (
    <FormField
      label={t(unit.isCurrency ? 'coupons.amountInCurrency' : 'coupons.amount')}
      hint={hint()}
      error={fault && t(`coupons.fault.${fault}`)}
      isRequired
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
            label={t('coupons.quickAmounts')}
            picks={DOLLARS.map((dollars) => ({
              value: amountOfQuota(dollars * unit.quotaPerUnit, unit),
              text: `$${dollars}`,
            }))}
            chosen={draft.amount}
            onPick={(amount) => onChange({ amount })}
          />
        </div>
      )}
    </FormField>
  )
}

function CountField({ draft, faults, onChange }: CouponFormProps): ReactElement {
  const { t } = useTranslation()
  return (
    <FormField
      label={t('coupons.count')}
      hint={t('coupons.countHint')}
      error={faults.count && t(`coupons.fault.${faults.count}`)}
    >
      {(control) => (
        <div className="tg-picked">
          <TextInput
            {...control}
            className="tg-input-short"
            inputMode="numeric"
            value={draft.count}
            onChange={(count) => onChange({ count })}
          />
          <QuickPicks
            label={t('coupons.quickCounts')}
            picks={COUNTS.map((count) => ({ value: count, text: count }))}
            chosen={draft.count}
            onPick={(count) => onChange({ count })}
          />
        </div>
      )}
    </FormField>
  )
}

function KeyField({ draft, faults, keyRefusal, onChange }: CouponFormProps): ReactElement {
  const { t } = useTranslation()
  return (
    <FormField
      label={t('coupons.ownKey')}
      hint={t('coupons.ownKeyHint')}
      error={faults.key === undefined ? keyRefusal : t(`coupons.fault.${faults.key}`)}
    >
      {(control) => (
        <TextInput
          {...control}
          isMono
          autoComplete="off"
          spellCheck={false}
          placeholder={t('coupons.ownKeyPlaceholder')}
          value={draft.key}
          onChange={(key) => onChange({ key })}
        />
      )}
    </FormField>
  )
}
