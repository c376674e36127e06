import { useTranslation } from 'react-i18next'
import { AmountField } from '#console/ui/forms/amount-field.tsx'
import { DateTimeField, TextField } from '#console/ui/forms/fields.tsx'
import { SwitchField } from '#console/ui/forms/switches.tsx'
import type { DraftForm } from '#console/ui/forms/use-draft-form.ts'
import type { AmountUnit } from '#console/ui/quota/quota-amount.ts'
import { type CouponDraft, NAME_MAX } from './coupon-draft.ts'

const DOLLARS = [1n, 10n, 50n, 100n, 500n, 1000n] as const
const COUNTS = ['1', '10', '20', '50', '100'] as const

type CouponFormProps = {
  form: DraftForm<CouponDraft>
  unit: AmountUnit
  isNew: boolean
  used: number
}

export function CouponForm(props: CouponFormProps) {
  const { t } = useTranslation()
  const { form, unit, used } = props
  return (
    <>
      <fieldset className="tg-form-group">
        <legend>{t('words.basics')}</legend>
        <TextField
          label={t('words.name')}
          hint={t('coupons.nameHint')}
          isRequired
          autoFocus
          maxLength={NAME_MAX * 2}
          placeholder={t('coupons.namePlaceholder')}
          {...form.field('name')}
        />
        <AmountField
          label={t(unit.isCurrency ? 'coupons.amountInCurrency' : 'words.quota')}
          unit={unit}
          wrongText={t('coupons.fault.amountWrong')}
          picksLabel={t('words.usualAmounts')}
          dollars={DOLLARS}
          worth={{
            inMoney: (money) => t('coupons.amountMoney', { money }),
            inUnits: (quota) => t('coupons.amountHint', { quota }),
          }}
          isRequired
          {...form.field('amount')}
        />
        {props.isNew && <NewCodeFields form={form} />}
      </fieldset>
      <TermFields form={form} used={used} />
    </>
  )
}

function NewCodeFields({ form }: Pick<CouponFormProps, 'form'>) {
  const { t } = useTranslation()
  return (
    <>
      <TextField
        label={t('coupons.count')}
        hint={t('coupons.countHint')}
        inputMode="numeric"
        picks={{
          label: t('coupons.quickCounts'),
          choices: COUNTS.map((count) => ({ value: count, text: count })),
        }}
        {...form.field('count')}
      />
      <TextField
        label={t('coupons.ownKey')}
        hint={t('coupons.ownKeyHint')}
        isMono
        autoComplete="off"
        spellCheck={false}
        placeholder={t('coupons.ownKeyPlaceholder')}
        {...form.field('key')}
      />
    </>
  )
}

function TermFields({ form, used }: Pick<CouponFormProps, 'form' | 'used'>) {
  const { t } = useTranslation()
  return (
    <fieldset className="tg-form-group">
      <legend>{t('coupons.terms')}</legend>
      <SwitchField
        label={t('coupons.isGift')}
        hint={t(used > 0 ? 'coupons.giftInUse' : 'coupons.isGiftHint')}
        isDisabled={used > 0}
        {...form.field('isGift')}
      />
      {form.draft.isGift && (
        <TextField
          label={t('coupons.maxUses')}
          hint={used > 0 ? t('coupons.usedAlready', { count: used }) : t('coupons.maxUsesHint')}
          className="tg-input-short"
          inputMode="numeric"
          placeholder={t('coupons.unlimited')}
          {...form.field('maxUses')}
        />
      )}
      <div className="tg-coupon-dates">
        {(['validFrom', 'validUntil'] as const).map((name) => (
          <DateTimeField
            key={name}
            label={t(`coupons.${name}`)}
            hint={t(`coupons.${name}Hint`)}
            {...form.field(name)}
          />
        ))}
      </div>
    </fieldset>
  )
}
