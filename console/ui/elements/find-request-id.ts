const FULL_ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i
const BEGINNING = /^[0-9a-f]{8}(?:-[0-9a-f-]*)?$/i

/** Finds a request id, or the beginning of one, in a text. Returns it in lower case, or null. */
export function findRequestId(text: string): string | null {
  const fullId = findFullRequestId(text)
  if (fullId !== null) return fullId
  const part = text.trim().toLowerCase()
  return BEGINNING.test(part) && part.length <= 36 ? part : null
}

export const findFullRequestId = (text: string): string | null =>
  FULL_ID.exec(text)?.[0].toLowerCase() ?? null
