import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { priceScheduleKey, schedulePrices } from '#console/api/options/price-schedule.ts'
import { Button } from '#console/ui/button.tsx'
import { showError, showSuccess } from '#console/ui/toast.ts'
import { useSubmit } from '#console/ui/use-submit.ts'
import { draftEntries, isPriceOption } from './draft-entries.ts'
import { fallbackFaultKey } from './fallback-pricing.ts'
import { planTimeFault } from './plan-time.ts'
import { PlanTimeField } from './plan-time-field.tsx'
import { PlannedEntries } from './planned-entries.tsx'
import type { SettingsForm } from './use-settings-form.ts'

/** The unsaved price changes, and when they are to take effect instead of now. */
export function PlanDrafts({ form }: { form: SettingsForm }): ReactElement {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [at, setAt] = useState('')
  const [isChecked, setChecked] = useState(false)
  const entries = draftEntries(form.changes) ?? []
  const seconds = Math.floor(new Date(at).getTime() / 1_000)
  const fault = planTimeFault(seconds)
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
  return (
    <div className="tg-plan">
      <h3 className="tg-drawer-part">{t('prices.scheduleDraft')}</h3>
      <PlannedEntries entries={entries} />
      {form.changes.some(({ key }) => !isPriceOption(key)) && (
        <p className="tg-hint">{t('prices.scheduleOthers')}</p>
      )}
      <PlanTimeField value={at} fault={isChecked ? fault : null} onChange={setAt} />
      <Button tone="primary" isBusy={isBusy} onClick={() => void submit()}>
        {t('prices.schedulePlan')}
      </Button>
    </div>
  )
}
