import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { priceScheduleKey, schedulePrices } from '#console/api/options/price-schedule.ts'
import { Button } from '#console/ui/button.tsx'
import { FormField } from '#console/ui/form-field.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import { showError, showSuccess } from '#console/ui/toast.ts'
import { useSubmit } from '#console/ui/use-submit.ts'
import { draftEntries, isPriceOption } from './draft-entries.ts'
import { fallbackFaultKey } from './fallback-pricing.ts'
import { PlannedEntries } from './planned-entries.tsx'
import type { SettingsForm } from './use-settings-form.ts'

/** As far ahead as the server takes it. */
const DAYS_MAX = 366

function timeFault(seconds: number): 'scheduleAtFault' | 'scheduleAtFar' | null {
  const aheadMs = seconds * 1_000 - Date.now()
  if (!(aheadMs > 0)) return 'scheduleAtFault'
  return aheadMs > DAYS_MAX * 86_400_000 ? 'scheduleAtFar' : null
}

/** The unsaved price changes, and when they are to take effect instead of now. */
export function PlanDrafts({ form }: { form: SettingsForm }): ReactElement {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [at, setAt] = useState('')
  const [isChecked, setChecked] = useState(false)
  const entries = draftEntries(form.changes) ?? []
  const seconds = Math.floor(new Date(at).getTime() / 1_000)
  const fault = timeFault(seconds)
  const { isBusy, submit } = useSubmit(async () => {
    setChecked(true)
    const changed = new Set(form.changes.map(({ key }) => key))
    if (fallbackFaultKey(changed, form.value)) return showError(t('settings.checkInput'))
    if (fault !== null) return
    try {
      await schedulePrices({ at: seconds, changes: entries })
    } catch (error) {
      return showError(error)
    }
    for (const { key } of form.changes.filter((change) => isPriceOption(change.key)))
      form.reset(key)
    await client.invalidateQueries({ queryKey: priceScheduleKey })
    showSuccess(t('prices.scheduled', { count: entries.length }))
    setChecked(false)
  })
  if (entries.length === 0) return <p className="tg-hint">{t('prices.scheduleNoDraft')}</p>
  const { timeZone: zone } = Intl.DateTimeFormat().resolvedOptions()
  return (
    <div className="tg-plan">
      <h3 className="tg-drawer-part">{t('prices.scheduleDraft')}</h3>
      <PlannedEntries entries={entries} />
      {form.changes.some(({ key }) => !isPriceOption(key)) && (
        <p className="tg-hint">{t('prices.scheduleOthers')}</p>
      )}
      <FormField
        label={t('prices.scheduleAt')}
        hint={t('prices.scheduleAtHint', { zone })}
        error={isChecked && fault !== null ? t(`prices.${fault}`, { days: DAYS_MAX }) : undefined}
        isRequired
      >
        {(control) => (
          <TextInput
            {...control}
            className="tg-input-short"
            type="datetime-local"
            value={at}
            onChange={setAt}
          />
        )}
      </FormField>
      <Button tone="primary" isBusy={isBusy} onClick={() => void submit()}>
        {t('prices.schedulePlan')}
      </Button>
    </div>
  )
}
