/** The limits of a file's lifetime in seconds. They are those of OpenAI's API. */
const LIFETIME_S = { least: 3_600, most: 2_592_000 }

/**
 * Reads the lifetime that a caller requests for a file. OpenAI's API counts it in seconds from the
 * file's creation. Returns the lifetime in milliseconds, or the name of the invalid member.
 */
export function readFileLifetime({ anchor, seconds }: RequestedLifetime): number | InvalidMember {
  if (anchor !== 'created_at') return 'anchor'
  const isWhole = typeof seconds === 'number' && Number.isInteger(seconds)
  if (!isWhole || seconds < LIFETIME_S.least || seconds > LIFETIME_S.most) return 'seconds'
  return seconds * 1_000
}

type RequestedLifetime = { readonly anchor?: unknown; readonly seconds?: unknown }
type InvalidMember = keyof RequestedLifetime
