const WHOLE = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i
const BEGINNING = /^[0-9a-f]{8}(?:-[0-9a-f-]*)?$/i

/** Returns a request id, or its first characters, in lower case. */
export function requestIdIn(text: string): string | null {
  const whole = wholeRequestIdIn(text)
  if (whole !== null) return whole
  const part = text.trim().toLowerCase()
  return BEGINNING.test(part) && part.length <= 36 ? part : null
}

export const wholeRequestIdIn = (text: string): string | null =>
  WHOLE.exec(text)?.[0].toLowerCase() ?? null
