import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { FormField } from '#console/ui/forms/form-field.tsx'
import { TextInput } from '#console/ui/forms/inputs.tsx'
import { QuickPicks } from '#console/ui/forms/quick-picks.tsx'
import { TOKEN_NAME_MAX } from '#read-api/contract/token-fields.ts'
import { TokenAccessFields } from './token-access-fields.tsx'
import { TokenAmountFields } from './token-amount-fields.tsx'
import { faultText, type TokenFormProps } from './token-draft.ts'
import { EXPIRY_PRESETS, type ExpiryPreset, presetText } from './token-expiry.ts'

/** The expiry of a token, or never. Buttons set common lifetimes, counted from now. */
function TokenExpiryFields({ draft, faults, onChange }: TokenFormProps): ReactElement {
  const { t } = useTranslation()
  const pick = (preset: string) => {
    const expiresAt = presetText(preset as ExpiryPreset, new Date())
    onChange({ neverExpires: preset === 'never', expiresAt })
  }
  return (
    <FormField
      label={t('tokens.expiresAt')}
      hint={draft.neverExpires ? t('tokens.neverExpires') : undefined}
      error={faultText(t, faults.expiresAt)}
    >
      {(control) => (
        <div className="tg-picked">
          <TextInput
            {...control}
            type="datetime-local"
            className="tg-input-date"
            max="9999-12-31T23:59"
            value={draft.expiresAt}
            onChange={(expiresAt) => onChange({ expiresAt, neverExpires: false })}
          />
          <QuickPicks
            label={t('tokens.expiryPresets')}
            picks={EXPIRY_PRESETS.map((preset) => ({
              value: preset,
              text: t(`tokens.preset.${preset}`),
            }))}
            chosen={draft.neverExpires ? 'never' : null}
            onPick={pick}
          />
        </div>
      )}
    </FormField>
  )
}

const COUNTS = ['1', '10', '20', '30', '100'] as const

export function TokenForm(props: TokenFormProps): ReactElement {
  const { t } = useTranslation()
  return (
    <>
      <fieldset className="tg-form-group">
        <legend>{t('words.basics')}</legend>
        <NameField {...props} />
        <TokenAmountFields {...props} />
        <TokenExpiryFields {...props} />
        {props.isNew && <CountField {...props} />}
      </fieldset>
      <fieldset className="tg-form-group">
        <legend>{t('tokens.access')}</legend>
        <TokenAccessFields {...props} />
      </fieldset>
    </>
  )
}

function NameField({ draft, faults, onChange }: TokenFormProps): ReactElement {
  const { t } = useTranslation()
  const error = faultText(t, faults.name)
  return (
    <FormField label={t('words.name')} error={error} isRequired>
      {(control) => (
        <TextInput
          {...control}
          autoFocus
          maxLength={TOKEN_NAME_MAX}
          placeholder={t('tokens.namePlaceholder')}
          value={draft.name}
          onChange={(name) => onChange({ name })}
        />
      )}
    </FormField>
  )
}

function CountField({ draft, faults, onChange }: TokenFormProps): ReactElement {
  const { t } = useTranslation()
  const error = faultText(t, faults.count)
  return (
    <FormField label={t('tokens.count')} hint={t('tokens.countHint')} error={error}>
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
            label={t('tokens.quickCounts')}
            picks={COUNTS.map((count) => ({ value: count, text: count }))}
            chosen={draft.count}
            onPick={(count) => onChange({ count })}
          />
        </div>
      )}
    </FormField>
  )
}
