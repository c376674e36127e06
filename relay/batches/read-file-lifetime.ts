import { notOneOf, type RelayError } from '../canonical/relay-error.ts'
import { outOfRange } from '../dialects/read-common-request-members.ts'

/** The limits of a file's lifetime in seconds. They are those of OpenAI's API. */
const LIFETIME_S = { least: 3_600, most: 2_592_000 }

/**
 * Reads the lifetime that a caller requests for a file. OpenAI's API counts it in seconds from the
 * file's creation. Returns the lifetime in milliseconds, or the error for the caller. `names` has
 * the names of the members in the caller's request.
 */
export function readFileLifetime(
  { anchor, seconds }: RequestedLifetime,
  names: Readonly<Record<keyof RequestedLifetime, string>>,
): number | RelayError {
  if (anchor !== 'created_at') return notOneOf(names.anchor, ['created_at'])
  const isWhole = typeof seconds === 'number' && Number.isInteger(seconds)
  const { least, most } = LIFETIME_S
  if (!isWhole || seconds < least || seconds > most) return outOfRange(names.seconds, least, most)
  return seconds * 1_000
}

type RequestedLifetime = { readonly anchor?: unknown; readonly seconds?: unknown }
