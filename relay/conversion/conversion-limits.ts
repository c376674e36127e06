import { type RelayError, relayError } from '../canonical/relay-error.ts'
import { endOfPlainText, type Words, wordsOf } from '../dialects/scan-json-tokens.ts'

/**
 * The maximum length in MiB of a request that is converted. A conversion parses the request, and
 * parsing a longer request would block the event loop.
 */
const CONVERTED_MIB_MAX = 4
/** The maximum total number of members in all objects of a request that is converted. */
const CONVERTED_KEYS_MAX = 40_000

const QUOTE = 34
const COLON = 58
const BACKSLASH = 92

/**
 * Returns an error if a request is too long or has too many members to be parsed. Otherwise,
 * returns null.
 */
export function conversionLimitError(body: Buffer): RelayError | null {
  const error = lengthLimitError(body.length)
  if (error !== null) return error
  if (keysIn(body) > CONVERTED_KEYS_MAX) {
    return relayError('json_too_wide', { subject: `${CONVERTED_KEYS_MAX}` })
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

/**
 * Counts the members of all objects in valid JSON by counting the colons outside of strings. Stops
 * once the maximum is exceeded.
 */
function keysIn(body: Buffer): number {
  const words = wordsOf(body)
  let keys = 0
  let at = 0
  while (at < body.length && keys <= CONVERTED_KEYS_MAX) {
    const byte = body[at]
    if (byte === COLON) keys += 1
    at = byte === QUOTE ? endOfString(body, words, at) : at + 1
  }
  return keys
}

/** Returns the offset after the string that begins at `start`. */
function endOfString(body: Buffer, words: Words, start: number): number {
  let at = start + 1
  while (at < body.length) {
    at = endOfPlainText(words, at)
    const byte = body[at]
    if (byte === QUOTE) return at + 1
    at += byte === BACKSLASH ? 2 : 1
  }
  return at
}
