import { findFullRequestId } from '#read-api/contract/find-full-request-id.ts'

const BEGINNING = /^[0-9a-f]{8}(?:-[0-9a-f-]*)?$/i

/**
 * Finds a request id. A complete id may be anywhere in the text. The beginning of an id is found
 * only if the text contains nothing else. Returns the id in lower case, or null if there is none.
 */
export function findRequestId(text: string): string | null {
  const fullId = findFullRequestId(text)
  if (fullId !== null) return fullId
  const part = text.trim().toLowerCase()
  return BEGINNING.test(part) && part.length <= 36 ? part : null
}
