/** Fewer characters are not searched as a prefix: the server matches them as a whole id. */
export const REQUEST_ID_MIN = 8

const WHOLE = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i
const BEGINNING = /^[0-9a-f]{8}(?:-[0-9a-f-]*)?$/i

/**
 * The request id in a pasted text, such as a header line or an error message, in lower case; the
 * first characters of an id if the text consists of them alone; null if there is neither.
 */
export function requestIdIn(text: string): string | null {
  const whole = wholeRequestIdIn(text)
  if (whole !== null) return whole
  const part = text.trim().toLowerCase()
  return BEGINNING.test(part) && part.length <= 36 ? part : null
}

/** The complete request id in a text, in lower case; null if there is none. */
export const wholeRequestIdIn = (text: string): string | null =>
  WHOLE.exec(text)?.[0].toLowerCase() ?? null
