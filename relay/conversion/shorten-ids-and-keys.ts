import { createHash } from 'node:crypto'

/** The maximum length of call ids, cache keys and user identifiers that OpenAI accepts. */
const LENGTH_MAX = 64
const DIGITS = 40

/**
 * Returns the id to send for a call of a tool. An id that is too long is replaced by a shorter one,
 * which is the same for the call of the tool and its result.
 */
export const limitedCallId = (id: string): string =>
  id.length <= LENGTH_MAX ? id : `call_${digestOf(id)}`

/**
 * Returns a key or an identifier to send. One that has more than `lengthMax` characters is replaced
 * by a digest, which is the same in each request.
 */
export const limitedKey = (key: string, lengthMax = LENGTH_MAX): string =>
  key.length <= lengthMax ? key : digestOf(key)

/** Returns a key or an identifier as `limitedKey` does. Returns null if there is none. */
export const limitedKeyOrNull = (key: string | null): string | null =>
  key === null ? null : limitedKey(key)

const digestOf = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, DIGITS)
