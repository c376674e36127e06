import { currentSeconds } from '#console/api/scratch-copy.ts'
import type { UrlParam } from '#console/ui/state/url-state.ts'

/** Returns the month of a time in UTC, such as `2026-11`. */
export const monthText = (time: Date): string => time.toISOString().slice(0, 7)

/**
 * Returns the current month in UTC. While a scratch copy (the site as of an earlier time) is open,
 * returns the month of that earlier time.
 */
export const currentMonth = (): string => monthText(new Date(currentSeconds() * 1_000))

/** Returns the first and the last day of a month in UTC, such as `2026-11-01` and `2026-11-30`. */
export function daysOfMonth(month: string): { first: string; last: string } {
  const [year = 0, number = 1] = month.split('-').map(Number)
  const last = new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10)
  return { first: `${month}-01`, last }
}

/** The URL parameter for a day in UTC. By default, it is an empty text. */
export const dayParam: UrlParam<string> = {
  fallback: '',
  read: (text) =>
    /^2\d{3}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : null,
  write: (day) => day,
}

/**
 * The URL parameter for a month in UTC. By default, it is an empty text, which means the current
 * month.
 */
export const monthParam: UrlParam<string> = {
  fallback: '',
  read: (text) => (/^2\d{3}-(?:0[1-9]|1[0-2])$/.test(text) ? text : null),
  write: (month) => month,
}

/** Returns the name of a month. `month` has the form `2026-11`. */
export const monthName = (month: string, locale: string): string =>
  new Intl.DateTimeFormat(locale, { year: 'numeric', month: 'long', timeZone: 'UTC' }).format(
    Date.parse(`${month}-01`),
  )
