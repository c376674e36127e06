import { sql } from 'slonik'

/** Fewer characters match too many calls, so a shorter text is matched as a whole id. */
export const REQUEST_ID_PREFIX_MIN = 8

const PREFIX = new RegExp(`^[0-9a-f-]{${REQUEST_ID_PREFIX_MIN},36}$`)
const UUID_LENGTH = 36
/** Sorts after every character that an id may have. */
const AFTER_ALL = '~'
const DAY_SECONDS = 86_400

/**
 * The condition for calls with this request id. `text` is a whole id, or its first
 * `REQUEST_ID_PREFIX_MIN` or more characters, in upper or lower case. An id is a UUID v7, which
 * begins with the time of the request, so months before that time are not read. One day is allowed
 * for clocks that differ.
 */
export function ofRequest(text: string) {
  const id = text.toLowerCase()
  if (!PREFIX.test(id)) return sql.fragment`request_id = ${text}`
  const startedAt = earliestSecondOf(id)
  const since =
    startedAt === null
      ? sql.fragment`true`
      : sql.fragment`created_at >= ${Math.max(0, startedAt - DAY_SECONDS)}`
  if (id.length === UUID_LENGTH) return sql.fragment`request_id = ${id} and ${since}`
  // Compares in byte order, which the index uses, whatever the collation of the database is.
  return sql.fragment`request_id ~>=~ ${id} and request_id ~<~ ${id + AFTER_ALL} and ${since}`
}

/**
 * Unix seconds of the earliest request whose id has this prefix; null when the prefix holds no
 * time.
 */
function earliestSecondOf(id: string): number | null {
  const match = /^([0-9a-f]{8})(?:-([0-9a-f]{0,4}))?(?:-|$)/.exec(id)
  if (match === null) return null
  const [, high = '', low = ''] = match
  return Math.floor(Number.parseInt(high + low.padEnd(4, '0'), 16) / 1_000)
}
