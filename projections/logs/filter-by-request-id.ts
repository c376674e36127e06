import { sql } from 'slonik'

/**
 * The minimum length of a request id's prefix in a search. A shorter text is treated as a complete
 * id, because it would match too many calls as a prefix.
 */
const REQUEST_ID_PREFIX_MIN = 8

const PREFIX = new RegExp(`^[0-9a-f-]{${REQUEST_ID_PREFIX_MIN},36}$`)
const UUID_LENGTH = 36
/** A character that sorts after every character of a request id. */
const AFTER_ALL = '~'
const DAY_SECONDS = 86_400

/**
 * Builds the SQL condition for a complete request id or a prefix, in upper or lower case. A request
 * id is a UUID v7, which starts with the time. Table partitions of earlier months are therefore
 * skipped, with one day of tolerance for clock differences.
 */
export function requestIdCondition(text: string) {
  const id = text.toLowerCase()
  if (!PREFIX.test(id)) return sql.fragment`request_id = ${text}`
  const startedAt = earliestSecondOf(id)
  const since =
    startedAt === null
      ? sql.fragment`true`
      : sql.fragment`created_at >= ${Math.max(0, startedAt - DAY_SECONDS)}`
  if (id.length === UUID_LENGTH) return sql.fragment`request_id = ${id} and ${since}`
  // The operators `~>=~` and `~<~` compare in byte order, like the index. The order of the
  // collation may differ.
  return sql.fragment`request_id ~>=~ ${id} and request_id ~<~ ${id + AFTER_ALL} and ${since}`
}

/**
 * Returns the Unix seconds of the earliest request whose id can start with this prefix. Returns
 * null if the prefix is too short to contain a time.
 */
function earliestSecondOf(id: string): number | null {
  const match = /^([0-9a-f]{8})(?:-([0-9a-f]{0,4}))?(?:-|$)/.exec(id)
  if (match === null) return null
  const [, high = '', low = ''] = match
  return Math.floor(Number.parseInt(high + low.padEnd(4, '0'), 16) / 1_000)
}
