import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import {
  usableGroupsQuery,
  usableModelsQuery,
} from '#console/api/own-user-group-and-model-queries.ts'
import { useTranslateGroupDescription } from '#console/ui/elements/group-tag.tsx'
import { AmountField } from '#console/ui/forms/amount-field.tsx'
import { Switch, SwitchField } from '#console/ui/forms/choice-inputs.tsx'
import { DateTimeField, SelectField, TextAreaField, TextField } from '#console/ui/forms/fields.tsx'
import { NamesField } from '#console/ui/forms/names-field.tsx'
import { fieldErrors } from '#console/ui/forms/resource-draft.ts'
import { RATE_LIMIT_FIELDS, TOKEN_FIELDS } from '#read-api/contract/token-fields.ts'
import {
  EXPIRY_PRESETS,
  type ExpiryPreset,
  presetText,
  type TokenDraft,
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

const RATES = ['periodSeconds', 'count', 'success'] as const
const LIMITS = ['tokensPerMinute', 'maxConcurrency'] as const

function TokenAccessFields({ form }: TokenFormProps) {
  const { t } = useTranslation()
  const groups = useGroupChoices(form.draft.group)
  const models = useQuery(usableModelsQuery).data ?? []
  return (
    <>
      <SelectField
        label={t('ui.groupName')}
        hint={t('shared.groupHint')}
        choices={groups}
        {...form.field('group')}
      />
      <SwitchField
        label={t('tokens.hasModelLimits')}
        hint={t('tokens.hasModelLimitsHint')}
        {...form.field('hasModelLimits')}
      />
      {form.draft.hasModelLimits && (
        <NamesField
          label={t('tokens.models')}
          suggestions={models}
          placeholder={t('tokens.modelsPlaceholder')}
          {...form.field('models')}
        />
      )}
      <RateFields form={form} />
      <TextAreaField
        label={t('tokens.allowIps')}
        hint={t('tokens.allowIpsHint')}
        isMono
        rows={3}
        {...form.field('allowIps')}
      />
    </>
  )
}

/**
 * Returns the groups that can be selected. The current group of the token is included even if the
 * user may no longer use it.
 */
function useGroupChoices(group: string) {
  const { t } = useTranslation()
  const describeGroup = useTranslateGroupDescription()
  const groups = Object.entries(useQuery(usableGroupsQuery).data ?? {})
  const isListed = group === '' || groups.some(([name]) => name === group)
  return [
    { value: '', label: t('tokens.groupDefault') },
    ...groups.map(([name, { desc, ratio }]) => ({
      value: name,
      label: t('tokens.groupChoice', { name, description: describeGroup(name, desc), ratio }),
    })),
    ...(isListed ? [] : [{ value: group, label: group }]),
  ]
}

function RateFields({ form }: Pick<TokenFormProps, 'form'>) {
  const { t } = useTranslation()
  const { rateLimit } = form.draft
  const errors =
    form.errors.rateLimit === undefined ? {} : fieldErrors(t, RATE_LIMIT_FIELDS, rateLimit)
  const changeRate = (patch: Partial<TokenDraft['rateLimit']>) =>
    form.change({ rateLimit: { ...rateLimit, ...patch } })
  return (
    <>
      <Switch
        label={t('tokens.rateLimit.isEnabled')}
        hint={t('tokens.rateLimit.isEnabledHint')}
        isOn={rateLimit.isEnabled}
        onChange={(isEnabled) => changeRate({ isEnabled })}
      />
      {rateLimit.isEnabled && (
        <div className="tg-form-row">
          {RATES.map((field) => (
            <TextField
              key={field}
              label={t(`tokens.rateLimit.${field}`)}
              hint={field === 'periodSeconds' ? undefined : t('shared.zeroMeansNoLimit')}
              inputMode="numeric"
              error={errors[field]}
              value={rateLimit[field]}
              onChange={(value) => changeRate({ [field]: value })}
            />
          ))}
        </div>
      )}
      <div className="tg-form-row">
        {LIMITS.map((field) => (
          <TextField
            key={field}
            label={t(`tokens.${field}`)}
            hint={t('shared.zeroMeansNoLimit')}
            inputMode="numeric"
            {...form.field(field)}
          />
        ))}
      </div>
    </>
  )
}
