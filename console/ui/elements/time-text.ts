const MINUTE = 60
const HOUR = 3600
const DAY = 86_400

const UNITS: readonly { unit: Intl.RelativeTimeFormatUnit; seconds: number }[] = [
  { unit: 'day', seconds: DAY },
  { unit: 'hour', seconds: HOUR },
  { unit: 'minute', seconds: MINUTE },
  { unit: 'second', seconds: 1 },
]

/**
 * Formats a time in Unix seconds as `2 minutes ago`. A time that differs from `now` by more than 30
 * days is formatted as a date.
 */
export function relativeTimeText(at: number, now: number, locale: string): string {
  const difference = Math.round(at - now)
  if (Math.abs(difference) > 30 * DAY) return dateText(at, locale)
  return relativeSteps(difference, locale, 'long')
}

function relativeSteps(difference: number, locale: string, style: 'long' | 'short'): string {
  const step = UNITS.find(({ seconds }) => Math.abs(difference) >= seconds) ?? UNITS[3]
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style })
  return format.format(Math.trunc(difference / (step?.seconds ?? 1)), step?.unit ?? 'second')
}

/**
 * Formats a time in Unix seconds as `2 min. ago`. A time that differs from `now` by more than 30
 * days is formatted as a numeric date.
 */
export function shortRelativeText(at: number, now: number, locale: string): string {
  const difference = Math.round(at - now)
  if (Math.abs(difference) > 30 * DAY) return stampText(at).slice(0, 10)
  return relativeSteps(difference, locale, 'short')
}

/** Formats a time in Unix seconds as date, time and time zone. */
export function absoluteTimeText(at: number, locale: string, timeZone?: string): string {
  return formatter(locale, {
    dateStyle: 'medium',
    timeStyle: 'long',
    ...(timeZone === undefined ? {} : { timeZone }),
  }).format(at * 1000)
}

/**
 * Formats a time in Unix seconds as `2026-11-21 07:03:09`. The default time zone is the browser's.
 */
export function stampText(at: number, timeZone?: string): string {
  return formatter('sv-SE', {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    ...(timeZone === undefined ? {} : { timeZone }),
  }).format(at * 1000)
}

/** Formats a time like `stampText`, but without the year if it is the current year. */
export function shortStampText(at: number, now: number, timeZone?: string): string {
  const text = stampText(at, timeZone)
  return text.startsWith(stampText(now, timeZone).slice(0, 5)) ? text.slice(5) : text
}

function dateText(at: number, locale: string): string {
  return formatter(locale, { dateStyle: 'medium' }).format(at * 1000)
}

const formatters = new Map<string, Intl.DateTimeFormat>()

function formatter(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${locale} ${JSON.stringify(options)}`
  const cached = formatters.get(key)
  if (cached !== undefined) return cached
  const made = new Intl.DateTimeFormat(locale, options)
  formatters.set(key, made)
  return made
}
