import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { FormField } from '#console/ui/form-field.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import { QuickPicks } from '#console/ui/quick-picks.tsx'
import type { TokenFormProps } from './token-draft.ts'
import { EXPIRY_PRESETS, type ExpiryPreset, presetText } from './token-expiry.ts'

/** When the token ends: a moment, or never; usual lifetimes count from now. */
export function TokenExpiryFields({ draft, faults, onChange }: TokenFormProps): ReactElement {
  const { t } = useTranslation()
  const pick = (preset: string) => {
    const expiresAt = presetText(preset as ExpiryPreset, new Date())
    onChange({ neverExpires: preset === 'never', expiresAt })
  }
  return (
    <FormField
      label={t('tokens.expiresAt')}
      hint={draft.neverExpires ? t('tokens.neverExpires') : undefined}
      error={faults.expiresAt && t(`tokens.fault.${faults.expiresAt}`)}
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
