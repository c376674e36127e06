/**
 * Returns the id that replaces a token id if a user makes calls in the console, which needs no
 * token. The id never equals a token's id and is unique per user. Counts per token are therefore
 * never shared between users.
 */
export const playgroundTokenId = (userId: number): number => -userId

/**
 * Returns whether the id is for the playground. The playground has no budget, so that only the
 * balance limits its calls.
 */
export const isPlayground = (tokenId: number): boolean => tokenId < 0

/** The name that is shown instead of a token name. */
export const PLAYGROUND_NAME = 'playground'
