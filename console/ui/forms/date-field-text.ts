/**
 * Formats Unix seconds for a date field, in local time: `YYYY-MM-DDTHH:mm`. Returns an empty text
 * if `seconds` is 0 or negative.
 */
export function dateFieldText(seconds: number): string {
  if (seconds <= 0) return ''
  const date = new Date(seconds * 1000)
  const twoDigits = (value: number) => String(value).padStart(2, '0')
  const day = `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`
  return `${day}T${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`
}

/**
 * Parses the text of a date field, in local time. Returns Unix seconds, `ifEmpty` if the text is
 * empty, and null if it is invalid.
 */
export function secondsOfDateField(text: string, ifEmpty: number | null = null): number | null {
  if (text.trim() === '') return ifEmpty
  const match = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::\d\d)?$/.exec(text.trim())
  if (match === null) return null
  const date = new Date(text.trim().replace(' ', 'T'))
  if (Number.isNaN(date.getTime()) || date.getDate() !== Number(match[3])) return null
  return Math.floor(date.getTime() / 1000)
}
