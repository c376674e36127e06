import { type RelayError, relayError } from '../canonical/relay-error.ts'
import { countOutsideStrings } from '../dialects/scan-json-tokens.ts'

/**
 * The maximum length in MiB of a request that is converted. A conversion parses the request, and
 * parsing a longer request would block the event loop.
 */
const CONVERTED_MIB_MAX = 4
/** The maximum total number of members in all objects of a request that is converted. */
export const CONVERTED_KEYS_MAX = 40_000

/** The maximum number of objects and arrays of a request that is converted. They may be empty. */
const CONVERTED_LISTS_MAX = 2 * CONVERTED_KEYS_MAX

const COLON = 58
const BEGINNINGS = [...Buffer.from('{[')]

/**
 * Returns an error if a request is too long, or has too many members, objects or arrays, to be
 * parsed. Otherwise, returns null.
 */
export function conversionLimitError(body: Buffer): RelayError | null {
  const error = lengthLimitError(body.length)
  if (error !== null) return error
  // Each member of an object has one colon outside of strings.
  if (countOutsideStrings(body, [COLON], CONVERTED_KEYS_MAX) > CONVERTED_KEYS_MAX) {
    return relayError('json_too_wide', { subject: `${CONVERTED_KEYS_MAX}` })
  }
  if (countOutsideStrings(body, BEGINNINGS, CONVERTED_LISTS_MAX) > CONVERTED_LISTS_MAX) {
    return relayError('json_too_many_objects', { subject: `${CONVERTED_LISTS_MAX}` })
  }
  return null
}

/**
 * Returns an error if a request of this length is too long to be parsed. Otherwise, returns null.
 */
export const lengthLimitError = (bytes: number): RelayError | null =>
  bytes > CONVERTED_MIB_MAX * 1024 * 1024
    ? relayError('request_too_large_to_convert', { subject: `${CONVERTED_MIB_MAX}` })
    : null
