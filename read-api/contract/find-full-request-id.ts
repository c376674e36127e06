/** Hyphens are optional, because the ids by which callers know their batches have none. */
const FULL_ID =
  /(?<![0-9a-f])([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})(?![0-9a-f])/i

/**
 * Finds a complete request id anywhere in a text, or the id of a batch that a caller knows, such as
 * `batch_` with 32 digits. Returns the request id in lower case, or null if there is none.
 */
export const findFullRequestId = (text: string): string | null =>
  FULL_ID.exec(text)?.slice(1).join('-').toLowerCase() ?? null
