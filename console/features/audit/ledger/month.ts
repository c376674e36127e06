import type { UrlParam } from '#console/ui/state/url-state.ts'

/** The month of a time in UTC, such as `2026-11`. */
export const monthText = (time: Date): string => time.toISOString().slice(0, 7)

/** A month in UTC. The fallback is an empty text, which is the current month. */
export const monthParam: UrlParam<string> = {
  fallback: '',
  read: (text) => (/^2\d{3}-(?:0[1-9]|1[0-2])$/.test(text) ? text : null),
  write: (month) => month,
}
