import { useTranslation } from 'react-i18next'
import { TextField } from '#console/ui/forms/fields.tsx'

/** The server's limit for planned times. */
const SCHEDULE_DAYS_MAX = 366

/** `seconds` is a unix time, or NaN if no time is set. */
export function validateScheduleTime(seconds: number): 'scheduleAtPast' | 'scheduleAtFar' | null {
  const aheadMs = seconds * 1_000 - Date.now()
  if (!(aheadMs > 0)) return 'scheduleAtPast'
  return aheadMs > SCHEDULE_DAYS_MAX * 86_400_000 ? 'scheduleAtFar' : null
}

/** Uses the browser's time zone. */
export function ScheduleTimeField(props: {
  value: string
  errorKey: ReturnType<typeof validateScheduleTime>
  onChange: (value: string) => void
}) {
  const { value, errorKey, onChange } = props
  const { t } = useTranslation()
  const { timeZone: zone } = Intl.DateTimeFormat().resolvedOptions()
  return (
    <TextField
      label={t('pricing.scheduleAt')}
      hint={t('pricing.scheduleAtHint', { zone })}
      error={errorKey === null ? undefined : t(`pricing.${errorKey}`, { days: SCHEDULE_DAYS_MAX })}
      isRequired
      className="tg-input-short"
      type="datetime-local"
      value={value}
      onChange={onChange}
    />
  )
}
