import { useTranslation } from 'react-i18next'
import { TextField } from '#console/ui/forms/fields.tsx'
import { PLAN_DAYS_MAX, type planTimeFault } from './schedule-time.ts'

/** The time when planned prices take effect, in the browser's time zone. */
export function PlanTimeField(props: {
  value: string
  fault: ReturnType<typeof planTimeFault>
  onChange: (value: string) => void
}) {
  const { value, fault, onChange } = props
  const { t } = useTranslation()
  const { timeZone: zone } = Intl.DateTimeFormat().resolvedOptions()
  return (
    <TextField
      label={t('prices.scheduleAt')}
      hint={t('prices.scheduleAtHint', { zone })}
      error={fault === null ? undefined : t(`prices.${fault}`, { days: PLAN_DAYS_MAX })}
      isRequired
      className="tg-input-short"
      type="datetime-local"
      value={value}
      onChange={onChange}
    />
  )
}
