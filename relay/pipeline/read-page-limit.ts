import type { RelayError } from '../canonical/relay-error.ts'
import { outOfRange } from '../dialects/read-common-request-members.ts'

/**
 * Reads a query parameter with a whole number from 1 to `most`, by default `limit`, which is the
 * maximum number of objects on a page. Returns `usual` if the parameter is missing, or an error
 * that names the range if it is invalid.
 */
export function limitIn(
  query: URLSearchParams,
  { usual, most }: { readonly usual: number; readonly most: number },
  name = 'limit',
): number | RelayError {
  const text = query.get(name)
  if (text === null) return usual
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0
  return limit >= 1 && limit <= most ? limit : outOfRange(name, 1, most)
}
