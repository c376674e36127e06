import { useTranslation } from 'react-i18next'
import { translate } from '#console/i18n/i18n.ts'
import { secondsOfDateField } from '#console/ui/forms/date-field.ts'
import { TextField } from '#console/ui/forms/fields.tsx'
import type { FieldState } from '#console/ui/forms/use-draft-form.ts'

/** The server accepts planned times up to this many days from now. */
const SCHEDULE_DAYS_MAX = 366

export type ScheduleErrorKey = 'scheduleAtPast' | 'scheduleAtFar'

/** Returns the unix time of a date field's text, or NaN. */
export const secondsOfSchedule = (at: string): number => secondsOfDateField(at) ?? Number.NaN

/** Returns the errors of a draft with a field `at`. `seconds` is a unix time, or NaN. */
export function validateScheduleTime(seconds: number): { at?: ScheduleErrorKey } {
  const aheadMs = seconds * 1_000 - Date.now()
  if (!(aheadMs > 0)) return { at: 'scheduleAtPast' }
  return aheadMs > SCHEDULE_DAYS_MAX * 86_400_000 ? { at: 'scheduleAtFar' } : {}
}

export const scheduleErrorText = (errorKey: ScheduleErrorKey): string =>
  translate(`pricing.${errorKey}`, { days: SCHEDULE_DAYS_MAX })

/** The field for a planned time, in the browser's time zone. */
export function ScheduleTimeField(props: FieldState<string>) {
  const { t } = useTranslation()
  const { timeZone: zone } = Intl.DateTimeFormat().resolvedOptions()
  return (
    <TextField
      label={t('pricing.scheduleAt')}
      hint={t('pricing.scheduleAtHint', { zone })}
      isRequired
      className="tg-input-short"
      type="datetime-local"
      {...props}
    />
  )
}
