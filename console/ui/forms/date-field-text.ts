/**
 * Formats unix seconds as local time for a date field: `YYYY-MM-DDTHH:mm`. Returns an empty text
 * for 0 and negative values.
 */
export function dateFieldText(seconds: number): string {
  if (seconds <= 0) return ''
  const date = new Date(seconds * 1000)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`
}

/**
 * Parses the local time of a date field to unix seconds. Returns `ifEmpty` for an empty text, and
 * null for an invalid text.
 */
export function secondsOfDateField(text: string, ifEmpty: number | null = null): number | null {
  if (text.trim() === '') return ifEmpty
  const match = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::\d\d)?$/.exec(text.trim())
  if (match === null) return null
  const date = new Date(text.trim().replace(' ', 'T'))
  if (Number.isNaN(date.getTime()) || date.getDate() !== Number(match[3])) return null
  return Math.floor(date.getTime() / 1000)
}
