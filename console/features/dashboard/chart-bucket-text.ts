import { stampText } from '#console/ui/elements/time-text.ts'
import { bucketEnd, type Calendar, OTHER_SERIES } from './usage-chart-data.ts'

const dayText = (at: number, isUtc: boolean): string =>
  isUtc ? new Date(at * 1000).toISOString().slice(5, 10) : stampText(at).slice(5, 10)

/**
 * Formats the time of a chart's bar, which starts at `at` (Unix seconds): `11-21 07:00` for an
 * hour, `11-21` for a day, and `11-17–11-23` for a week.
 */
export function bucketText(at: number, calendar: Calendar): string {
  const { step, isUtc = false } = calendar
  if (step === 'hour') return stampText(at).slice(5, 16)
  if (step === 'day') return dayText(at, isUtc)
  return `${dayText(at, isUtc)}–${dayText(bucketEnd(at, calendar) - 1, isUtc)}`
}

export const seriesColor = (index: number, name: string): string =>
  name === OTHER_SERIES ? 'var(--tg-chart-other)' : `var(--tg-chart-${index + 1})`
