import { useTranslation } from 'react-i18next'
import { AmountField } from '#console/ui/forms/amount-field.tsx'
import { SwitchField } from '#console/ui/forms/choice-inputs.tsx'
import { DateTimeField, TextField } from '#console/ui/forms/fields.tsx'
import { TOKEN_FIELDS } from '#read-api/contract/token-fields.ts'
import { TokenAccessFields } from './token-access-fields.tsx'
import {
  EXPIRY_PRESETS,
  type ExpiryPreset,
  presetText,
  type TokenFormProps,
} from './token-draft.ts'

const DOLLARS = [1n, 10n, 50n, 100n, 500n, 1000n] as const
const COUNTS = ['1', '10', '20', '30', '100'] as const

export function TokenForm(props: TokenFormProps) {
  const { t } = useTranslation()
  const { form } = props
  return (
    <>
      <fieldset className="tg-form-group">
        <legend>{t('shared.basics')}</legend>
        <TextField
          label={t('shared.name')}
          isRequired
          autoFocus
          maxLength={TOKEN_FIELDS.name.maxLength}
          placeholder={t('tokens.namePlaceholder')}
          {...form.field('name')}
        />
        <AmountFields {...props} />
        <ExpiryField {...props} />
        {props.isNew && (
          <TextField
            label={t('tokens.count')}
            hint={t('tokens.countHint')}
            inputMode="numeric"
            presets={{
              label: t('tokens.commonCounts'),
              choices: COUNTS.map((count) => ({ value: count, text: count })),
            }}
            {...form.field('count')}
          />
        )}
      </fieldset>
      <fieldset className="tg-form-group">
        <legend>{t('tokens.access')}</legend>
        <TokenAccessFields {...props} />
      </fieldset>
    </>
  )
}

function AmountFields({ form, unit }: TokenFormProps) {
  const { t } = useTranslation()
  return (
    <>
      <SwitchField
        label={t('tokens.isUnlimited')}
        hint={t('tokens.isUnlimitedHint')}
        {...form.field('isUnlimited')}
      />
      {!form.draft.isUnlimited && (
        <AmountField
          label={t(unit.isCurrency ? 'tokens.amountInCurrency' : 'tokens.amount')}
          unit={unit}
          wrongText={t('tokens.error.amountInvalid')}
          presetsLabel={t('shared.commonAmounts')}
          dollars={DOLLARS}
          worth={{
            inMoney: (money) => t('tokens.amountMoney', { money }),
            inUnits: (quota) => t('tokens.amountHint', { quota }),
          }}
          {...form.field('amount')}
        />
      )}
    </>
  )
}

function ExpiryField({ form }: TokenFormProps) {
  const { t } = useTranslation()
  const { neverExpires } = form.draft
  return (
    <DateTimeField
      label={t('tokens.expiresAt')}
      hint={neverExpires ? t('tokens.neverExpires') : undefined}
      presets={{
        label: t('tokens.expiryPresets'),
        choices: EXPIRY_PRESETS.map((value) => ({
          value,
          text: t(value === 'never' ? 'shared.never' : `tokens.preset.${value}`),
        })),
        selected: neverExpires ? 'never' : null,
        onSelect: (preset) => {
          const expiresAt = presetText(preset as ExpiryPreset, new Date())
          form.change({ neverExpires: preset === 'never', expiresAt })
        },
      }}
      {...form.field('expiresAt')}
      onChange={(expiresAt) => form.change({ expiresAt, neverExpires: false })}
    />
  )
}
