import { sql } from 'slonik'

/**
 * The minimum length of a request id prefix. A shorter text would match too many calls, so a
 * shorter text only matches a complete id.
 */
export const REQUEST_ID_PREFIX_MIN = 8

const PREFIX = new RegExp(`^[0-9a-f-]{${REQUEST_ID_PREFIX_MIN},36}$`)
const UUID_LENGTH = 36
/** A character that sorts after every character of a request id. */
const AFTER_ALL = '~'
const DAY_SECONDS = 86_400

/**
 * Builds the SQL condition for calls with a request id. `text` is a complete id, or a prefix of at
 * least `REQUEST_ID_PREFIX_MIN` characters, in upper or lower case. A request id is a UUID v7,
 * which starts with the time of the request, so the condition excludes partitions of earlier
 * months. One day of clock difference is allowed.
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
  // The operators compare in byte order, as the index does, regardless of the database's collation.
  return sql.fragment`request_id ~>=~ ${id} and request_id ~<~ ${id + AFTER_ALL} and ${since}`
}

/**
 * Returns the unix seconds of the earliest request whose id can have this prefix; null when the
 * prefix does not contain a time.
 */
function earliestSecondOf(id: string): number | null {
  const match = /^([0-9a-f]{8})(?:-([0-9a-f]{0,4}))?(?:-|$)/.exec(id)
  if (match === null) return null
  const [, high = '', low = ''] = match
  return Math.floor(Number.parseInt(high + low.padEnd(4, '0'), 16) / 1_000)
}
