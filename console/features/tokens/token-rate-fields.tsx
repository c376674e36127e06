import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { FormField } from '#console/ui/form-field.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import { Switch } from '#console/ui/switches.tsx'
import type { TokenFormProps } from './token-draft.ts'

const RATES = ['ratePeriod', 'rateCount', 'rateSuccess'] as const
const LIMITS = ['tokensPerMinute', 'concurrency'] as const

/** How often, how much and how many at once. */
export function TokenRateFields(props: TokenFormProps): ReactElement {
  const { draft, onChange } = props
  const { t } = useTranslation()
  return (
    <>
      <Switch
        label={t('tokens.hasRateLimit')}
        hint={t('tokens.hasRateLimitHint')}
        isOn={draft.hasRateLimit}
        onChange={(hasRateLimit) => onChange({ hasRateLimit })}
      />
      {draft.hasRateLimit && (
        <div className="tg-form-row">
          {RATES.map((field) => (
            <NumberField key={field} field={field} isBounded={field === 'ratePeriod'} {...props} />
          ))}
        </div>
      )}
      <div className="tg-form-row">
        {LIMITS.map((field) => (
          <NumberField key={field} field={field} {...props} />
        ))}
      </div>
    </>
  )
}

function NumberField(
  props: TokenFormProps & {
    field: (typeof RATES)[number] | (typeof LIMITS)[number]
    /** 0 is no number for it. */
    isBounded?: boolean
  },
): ReactElement {
  const { draft, faults, field, onChange } = props
  const { t } = useTranslation()
  const fault = faults[field]
  return (
    <FormField
      label={t(`tokens.${field}`)}
      hint={props.isBounded === true ? undefined : t('tokens.rateHint')}
      error={fault && t(`tokens.fault.${fault}`)}
    >
      {(control) => (
        <TextInput
          {...control}
          inputMode="numeric"
          value={draft[field]}
          onChange={(value) => onChange({ [field]: value })}
        />
      )}
    </FormField>
  )
}
