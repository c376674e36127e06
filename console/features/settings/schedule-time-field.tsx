import { useTranslation } from 'react-i18next'
import { translate } from '#console/i18n/i18n.ts'
import { secondsOfDateField } from '#console/ui/forms/date-field-text.ts'
import { TextField } from '#console/ui/forms/fields.tsx'
import type { FieldState } from '#console/ui/forms/use-draft-form.ts'

/** The maximum number of days from now to a scheduled time that the server accepts. */
const SCHEDULE_DAYS_MAX = 366

export type ScheduleErrorKey = 'scheduleAtPast' | 'scheduleAtFar'

/** Converts the text of a date field to a Unix time in seconds. An invalid text becomes NaN. */
export const secondsOfSchedule = (at: string): number => secondsOfDateField(at) ?? Number.NaN

/**
 * Returns an error for the form field `at` if the time is in the past or too far in the future.
 * `seconds` is in Unix seconds, or NaN for an invalid time.
 */
export function validateScheduleTime(seconds: number): { at?: ScheduleErrorKey } {
  const aheadMs = seconds * 1_000 - Date.now()
  if (!(aheadMs > 0)) return { at: 'scheduleAtPast' }
  return aheadMs > SCHEDULE_DAYS_MAX * 86_400_000 ? { at: 'scheduleAtFar' } : {}
}

export const scheduleErrorText = (errorKey: ScheduleErrorKey): string =>
  translate(`pricing.${errorKey}`, { days: SCHEDULE_DAYS_MAX })

/** The field for a scheduled time, in the browser's time zone. */
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
