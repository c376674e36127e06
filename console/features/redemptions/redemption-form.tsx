import { useTranslation } from 'react-i18next'
import { AmountField } from '#console/ui/forms/amount-field.tsx'
import { SwitchField } from '#console/ui/forms/choice-inputs.tsx'
import { DateTimeField, TextField } from '#console/ui/forms/fields.tsx'
import type { DraftForm } from '#console/ui/forms/use-draft-form.ts'
import type { AmountUnit } from '#console/ui/quota/convert-entered-amount.ts'
import { REDEMPTION_NAME_MAX } from '#read-api/contract/redemption-fields.ts'
import type { RedemptionDraft } from './redemption-draft.ts'

const DOLLARS = [1n, 10n, 50n, 100n, 500n, 1000n] as const
const COUNTS = ['1', '10', '20', '50', '100'] as const

type RedemptionFormProps = {
  form: DraftForm<RedemptionDraft>
  unit: AmountUnit
  isNew: boolean
  used: number
}

export function RedemptionForm(props: RedemptionFormProps) {
  const { t } = useTranslation()
  const { form, unit, used } = props
  return (
    <>
      <fieldset className="tg-form-group">
        <legend>{t('shared.basics')}</legend>
        <TextField
          label={t('shared.name')}
          hint={t('redemptions.nameHint')}
          isRequired
          autoFocus
          maxLength={REDEMPTION_NAME_MAX * 2}
          placeholder={t('redemptions.namePlaceholder')}
          {...form.field('name')}
        />
        <AmountField
          label={t(unit.isCurrency ? 'redemptions.amountInCurrency' : 'shared.quota')}
          unit={unit}
          wrongText={t('redemptions.error.amountInvalid')}
          presetsLabel={t('shared.commonAmounts')}
          dollars={DOLLARS}
          worth={{
            inMoney: (money) => t('redemptions.amountMoney', { money }),
            inUnits: (quota) => t('redemptions.amountHint', { quota }),
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

function NewCodeFields({ form }: Pick<RedemptionFormProps, 'form'>) {
  const { t } = useTranslation()
  return (
    <>
      <TextField
        label={t('redemptions.count')}
        hint={t('redemptions.countHint')}
        inputMode="numeric"
        presets={{
          label: t('redemptions.commonCounts'),
          choices: COUNTS.map((count) => ({ value: count, text: count })),
        }}
        {...form.field('count')}
      />
      <TextField
        label={t('redemptions.customKey')}
        hint={t('redemptions.customKeyHint')}
        isMono
        autoComplete="off"
        placeholder={t('redemptions.customKeyPlaceholder')}
        {...form.field('key')}
      />
    </>
  )
}

function TermFields({ form, used }: Pick<RedemptionFormProps, 'form' | 'used'>) {
  const { t } = useTranslation()
  return (
    <fieldset className="tg-form-group">
      <legend>{t('redemptions.terms')}</legend>
      <SwitchField
        label={t('redemptions.isGift')}
        hint={t(used > 0 ? 'redemptions.giftInUse' : 'redemptions.isGiftHint')}
        isDisabled={used > 0}
        {...form.field('isGift')}
      />
      {form.draft.isGift && (
        <TextField
          label={t('redemptions.maxUses')}
          hint={
            used > 0 ? t('redemptions.usedSoFar', { count: used }) : t('redemptions.maxUsesHint')
          }
          className="tg-input-short"
          inputMode="numeric"
          placeholder={t('redemptions.unlimited')}
          {...form.field('maxUses')}
        />
      )}
      <div className="tg-redemption-dates">
        {(['validFrom', 'validUntil'] as const).map((name) => (
          <DateTimeField
            key={name}
            label={t(`redemptions.${name}`)}
            hint={t(`redemptions.${name}Hint`)}
            {...form.field(name)}
          />
        ))}
      </div>
    </fieldset>
  )
}
