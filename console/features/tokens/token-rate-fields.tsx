import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { TextField } from '#console/ui/forms/fields.tsx'
import { Switch } from '#console/ui/forms/switches.tsx'
import { faultText, type TokenDraft, type TokenFormProps } from './token-draft.ts'

const RATES = ['periodSeconds', 'count', 'success'] as const
const LIMITS = ['tokensPerMinute', 'maxConcurrency'] as const

/** The limits of a token: calls per period, tokens per minute, and concurrent calls. */
export function TokenRateFields({ draft, faults, onChange }: TokenFormProps): ReactElement {
  const { t } = useTranslation()
  const changeRate = (patch: Partial<TokenDraft['rateLimit']>) =>
    onChange({ rateLimit: { ...draft.rateLimit, ...patch } })
  return (
    <>
      <Switch
        label={t('tokens.rateLimit.isEnabled')}
        hint={t('tokens.rateLimit.isEnabledHint')}
        isOn={draft.rateLimit.isEnabled}
        onChange={(isEnabled) => changeRate({ isEnabled })}
      />
      {draft.rateLimit.isEnabled && (
        <div className="tg-form-row">
          {RATES.map((field) => (
            <TextField
              key={field}
              inputMode="numeric"
              label={t(`tokens.rateLimit.${field}`)}
              hint={field === 'periodSeconds' ? undefined : t('words.zeroMeansNoLimit')}
              error={faultText(t, faults.rateLimit?.[field])}
              value={draft.rateLimit[field]}
              onChange={(value) => changeRate({ [field]: value })}
            />
          ))}
        </div>
      )}
      <div className="tg-form-row">
        {LIMITS.map((field) => (
          <TextField
            key={field}
            inputMode="numeric"
            label={t(`tokens.${field}`)}
            hint={t('words.zeroMeansNoLimit')}
            error={faultText(t, faults[field])}
            value={draft[field]}
            onChange={(value) => onChange({ [field]: value })}
          />
        ))}
      </div>
    </>
  )
}
