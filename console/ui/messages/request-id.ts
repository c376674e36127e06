const WHOLE = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i
const BEGINNING = /^[0-9a-f]{8}(?:-[0-9a-f-]*)?$/i

/** Finds a request id, or its first characters, in a pasted text. Returns it in lower case. */
export function requestIdIn(text: string): string | null {
  const whole = wholeRequestIdIn(text)
  if (whole !== null) return whole
  const part = text.trim().toLowerCase()
  return BEGINNING.test(part) && part.length <= 36 ? part : null
}

/** Returns the complete request id in a text, in lower case, or null if there is none. */
export const wholeRequestIdIn = (text: string): string | null =>
  WHOLE.exec(text)?.[0].toLowerCase() ?? null
