import { createHash } from 'node:crypto'

/** OpenAI rejects longer ids of calls, cache keys and identifiers of users. */
const LENGTH_MAX = 64
const DIGITS = 40

/** Returns the id of a call, or a shorter id that is the same for the call and its result. */
export const limitedCallId = (id: string): string =>
  id.length <= LENGTH_MAX ? id : `call_${digestOf(id)}`

/** Returns a key or an identifier, or a digest of it that is the same for each request. */
export const limitedKey = (key: string): string => (key.length <= LENGTH_MAX ? key : digestOf(key))

const digestOf = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, DIGITS)
