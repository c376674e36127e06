export const EXPIRY_PRESETS = ['never', 'hour', 'day', 'month'] as const
export type ExpiryPreset = (typeof EXPIRY_PRESETS)[number]

/** Unix seconds on the wire for "never". */
export const NEVER = -1

/** `YYYY-MM-DDTHH:mm` of the browser's zone, as a date-time field holds it; empty is never. */
export function expiryText(seconds: number): string {
  if (seconds < 0) return ''
  const date = new Date(seconds * 1000)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`
}

/** Unix seconds; null when the text is no date of the calendar. */
export function expirySeconds(text: string): number | null {
  const match = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::\d\d)?$/.exec(text.trim())
  if (match === null) return null
  const date = new Date(text.trim().replace(' ', 'T'))
  if (Number.isNaN(date.getTime()) || date.getDate() !== Number(match[3])) return null
  return Math.floor(date.getTime() / 1000)
}

export function presetText(preset: ExpiryPreset, now: Date): string {
  const date = new Date(now)
  if (preset === 'never') return ''
  if (preset === 'hour') date.setHours(date.getHours() + 1)
  if (preset === 'day') date.setDate(date.getDate() + 1)
  if (preset === 'month') date.setMonth(date.getMonth() + 1)
  return expiryText(Math.floor(date.getTime() / 1000))
}
