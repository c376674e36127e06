import type { UrlParam } from '../state/url-state.ts'

/**
 * A time range. It is either relative to the current time, or has a first and a last second (Unix
 * time), both inclusive.
 */
export type TimeRange =
  | { readonly kind: 'relative'; readonly span: Span }
  | { readonly kind: 'absolute'; readonly from: number; readonly to: number }

export const SPANS = ['1h', 'today', '24h', '7d', '30d', 'all'] as const
type Span = (typeof SPANS)[number]

const RELATIVE: Record<Span, TimeRange> = {
  '1h': { kind: 'relative', span: '1h' },
  today: { kind: 'relative', span: 'today' },
  '24h': { kind: 'relative', span: '24h' },
  '7d': { kind: 'relative', span: '7d' },
  '30d': { kind: 'relative', span: '30d' },
  all: { kind: 'relative', span: 'all' },
}

/**
 * Returns the range of a span, such as the last 24 hours. The function returns the same object each
 * time, because filters compare objects by identity.
 */
export const relativeRange = (span: Span): TimeRange => RELATIVE[span]

const HOUR = 3_600
const SECONDS: Record<Exclude<Span, 'today' | 'all'>, number> = {
  '1h': HOUR,
  '24h': 24 * HOUR,
  '7d': 7 * 24 * HOUR,
  '30d': 30 * 24 * HOUR,
}

/**
 * The first and the last second of a range, in Unix seconds. Null means that the range is unlimited
 * at that end.
 */
type Bounds = { readonly from: number | null; readonly to: number | null }

/**
 * Returns the first and the last second of a range. `now` is in Unix seconds. A relative range,
 * except for `all`, ends an hour after `now`, because the clock of the server may be ahead.
 */
export function boundsOf(range: TimeRange, now: number): Bounds {
  if (range.kind === 'absolute') return { from: range.from, to: range.to }
  if (range.span === 'all') return { from: null, to: null }
  const to = now + HOUR
  if (range.span === 'today') return { from: midnightBefore(now), to }
  return { from: now - SECONDS[range.span], to }
}

/**
 * Returns the bounds of a range like `boundsOf`, but `to` is the first second after the range. The
 * audit log and the ledger leave out the second `to` of a request.
 */
export function boundsBeforeEnd(range: TimeRange, now: number): Bounds {
  const { from, to } = boundsOf(range, now)
  return { from, to: to === null ? null : to + 1 }
}

export const isWithin = ({ from, to }: Bounds, at: number): boolean =>
  (from === null || at >= from) && (to === null || at <= to)

/** Converts a range to a text for the URL, such as `24h` or `1763683200-1763769600`. */
export const rangeText = (range: TimeRange): string =>
  range.kind === 'relative' ? range.span : `${range.from}-${range.to}`

export function readRange(text: string): TimeRange | null {
  const span = SPANS.find((name) => name === text)
  if (span !== undefined) return relativeRange(span)
  const ends = /^(\d{1,11})-(\d{1,11})$/.exec(text)
  if (ends === null) return null
  const [from, to] = [Number(ends[1]), Number(ends[2])]
  return from <= to ? { kind: 'absolute', from, to } : null
}

export const rangeParam = (fallback: TimeRange): UrlParam<TimeRange> => ({
  fallback,
  read: readRange,
  write: rangeText,
})

/**
 * Returns the last midnight before `now` in the time zone of the browser. Both times are in Unix
 * seconds.
 */
export function midnightBefore(now: number): number {
  const day = new Date(now * 1000)
  day.setHours(0, 0, 0, 0)
  return Math.floor(day.getTime() / 1000)
}

/**
 * Parses a local time such as `2026-11-21T08:30`. Returns Unix seconds, or null if the text is
 * invalid.
 */
export function readLocalTime(text: string): number | null {
  const time = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?$/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isFinite(time) ? Math.floor(time / 1000) : null
}

export function localTimeText(seconds: number): string {
  const time = new Date(seconds * 1000)
  const twoDigits = (value: number): string => String(value).padStart(2, '0')
  const day = `${time.getFullYear()}-${twoDigits(time.getMonth() + 1)}-${twoDigits(time.getDate())}`
  return `${day}T${twoDigits(time.getHours())}:${twoDigits(time.getMinutes())}`
}

/** Returns the name of the time zone of the browser, such as `Asia/Shanghai`. */
export const zoneName = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone
