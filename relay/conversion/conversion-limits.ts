import { type RelayError, relayError } from '../canonical/relay-error.ts'

/**
 * The maximum length in MiB of a request that is converted. A conversion parses the request, and
 * parsing a longer one would block the event loop.
 */
const CONVERTED_MIB_MAX = 4
/** The maximum total number of members in all objects of a request that is converted. */
const CONVERTED_KEYS_MAX = 40_000

const KEY_END = Buffer.from('":')
const BACKSLASH = 92

/**
 * Returns an error if a request is too long or has too many members to be parsed. Otherwise,
 * returns null.
 */
export function conversionLimitError(body: Buffer): RelayError | null {
  if (body.length > CONVERTED_MIB_MAX * 1024 * 1024) {
    return relayError('request_too_large_to_convert', { subject: `${CONVERTED_MIB_MAX}` })
  }
  if (keysIn(body) > CONVERTED_KEYS_MAX) {
    return relayError('json_too_wide', { subject: `${CONVERTED_KEYS_MAX}` })
  }
  return null
}

/** Counts the members of all objects in JSON without spaces. Stops once the maximum is exceeded. */
function keysIn(body: Buffer): number {
  let keys = 0
  for (let at = body.indexOf(KEY_END); at >= 0; at = body.indexOf(KEY_END, at + 2)) {
    if (body[at - 1] !== BACKSLASH) keys += 1
    if (keys > CONVERTED_KEYS_MAX) break
  }
  return keys
}
