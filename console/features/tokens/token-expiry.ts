import { dateFieldText, secondsOfDateField } from '#console/ui/forms/date-field.ts'

export const EXPIRY_PRESETS = ['never', 'hour', 'day', 'month'] as const
export type ExpiryPreset = (typeof EXPIRY_PRESETS)[number]

/** The API's expiry time of a token that never expires. */
export const NEVER = -1

/** Formats unix seconds for a date-time field. The text is empty if the token never expires. */
export const expiryText = (seconds: number): string => (seconds < 0 ? '' : dateFieldText(seconds))

export const expirySeconds = secondsOfDateField

export function presetText(preset: ExpiryPreset, now: Date): string {
  const date = new Date(now)
  if (preset === 'never') return ''
  if (preset === 'hour') date.setHours(date.getHours() + 1)
  if (preset === 'day') date.setDate(date.getDate() + 1)
  if (preset === 'month') date.setMonth(date.getMonth() + 1)
  return expiryText(Math.floor(date.getTime() / 1000))
}
