import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { FormField } from '#console/ui/form-field.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import { Switch } from '#console/ui/switches.tsx'
import {
  FALLBACK_KEYS,
  type FallbackKey,
  fallbackDraft,
  fallbackFault,
  fallbackFaultField,
  withFallback,
} from './fallback-pricing.ts'
import type { SettingsForm } from './use-settings-form.ts'

/** The price of models without one: for each call, or by two ratios, never both. */
export function FallbackForm({ form }: { form: SettingsForm }): ReactElement | null {
  const { t } = useTranslation()
  if (!FALLBACK_KEYS.every((key) => form.has(key))) return null
  const draft = fallbackDraft(form.value)
  const set = (key: FallbackKey, value: string) =>
    form.set(new Map(Object.entries(withFallback(draft, key, value))))
  // Told of what is stored, too: the API takes one option at a time, so half of a pair can be.
  const fault = fallbackFault(draft)
  const error = fault === null ? undefined : t(`settings.fallbackFault.${fault}`)
  const faulty = fallbackFaultField(draft)
  const field = (key: FallbackKey, label: string) => (
    <FormField label={label} error={key === faulty ? error : undefined}>
      {(control) => (
        <TextInput
          {...control}
          className="tg-input-short"
          inputMode="decimal"
          value={draft[key]}
          onChange={(value) => set(key, value)}
        />
      )}
    </FormField>
  )
  return (
    <>
      <Switch
        label={t('settings.fallbackEnabled')}
        hint={t('settings.fallbackEither')}
        isOn={draft.fallback_pricing_enabled === 'true'}
        onChange={(isOn) => set('fallback_pricing_enabled', String(isOn))}
      />
      <div className="tg-fallback">
        {field('fallback_single_price', t('settings.fallbackSingle'))}
        <span className="tg-fallback-or">{t('settings.or')}</span>
        {field('fallback_input_ratio', t('settings.fallbackInput'))}
        {field('fallback_completion_ratio', t('settings.fallbackCompletion'))}
      </div>
    </>
  )
}
