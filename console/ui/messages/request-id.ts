const WHOLE = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i
const BEGINNING = /^[0-9a-f]{8}(?:-[0-9a-f-]*)?$/i

/**
 * Finds a request id in a pasted text, such as an error message. The first characters of an id are
 * sufficient. Returns the id in lower case, or null if there is none.
 */
export function requestIdIn(text: string): string | null {
  const whole = wholeRequestIdIn(text)
  if (whole !== null) return whole
  const part = text.trim().toLowerCase()
  return BEGINNING.test(part) && part.length <= 36 ? part : null
}

/** Returns the complete request id in a text, in lower case, or null if there is none. */
export const wholeRequestIdIn = (text: string): string | null =>
  WHOLE.exec(text)?.[0].toLowerCase() ?? null
