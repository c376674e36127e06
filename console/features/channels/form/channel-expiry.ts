/** Unix seconds on the wire for "never". */
const NEVER = -1

/** `YYYY-MM-DDTHH:mm` of the browser's zone, as a date-time field holds it; empty is never. */
export function expiryText(seconds: number): string {
  if (seconds <= 0) return ''
  const date = new Date(seconds * 1000)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`
}

/** Unix seconds; null when the text is no date of the calendar. */
export function expirySeconds(text: string): number | null {
  if (text.trim() === '') return NEVER
  const match = /^\d{4}-\d\d-(\d\d)[T ]\d\d:\d\d(?::\d\d)?$/.exec(text.trim())
  const date = new Date(text.trim().replace(' ', 'T'))
  if (match === null || Number.isNaN(date.getTime())) return null
  return date.getDate() === Number(match[1]) ? Math.floor(date.getTime() / 1000) : null
}
