/**
 * Returns the id that replaces the token id in calls from the console, which need no token. The id
 * is unique per user and never equals a token's id. Counts per token are therefore never shared
 * between users.
 */
export const playgroundTokenId = (userId: number): number => -userId

/**
 * Returns whether the id is for the playground. The playground has no budget, so that only the
 * balance limits its calls.
 */
export const isPlayground = (tokenId: number): boolean => tokenId < 0

/** The name that is shown instead of a token name. */
export const PLAYGROUND_NAME = 'playground'
