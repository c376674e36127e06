/**
 * Returns the token id for calls from the console's playground, which need no token. The id is
 * unique per user and never equals the id of a token. Usage counts by token id are therefore never
 * shared between users.
 */
export const playgroundTokenId = (userId: number): number => -userId

/**
 * Returns whether the token id is the id for calls from the playground. These calls have no token
 * budget, so only the user's balance limits them.
 */
export const isPlayground = (tokenId: number): boolean => tokenId < 0

/** The name that is shown instead of a token's name for calls from the playground. */
export const PLAYGROUND_NAME = 'playground'
