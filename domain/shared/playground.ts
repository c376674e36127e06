/**
 * Stands in for a token id where a user makes calls in the console, which needs no token. It is no
 * token's id and differs between users, so that anything counted by token stays with one user.
 */
export const playgroundTokenId = (userId: number): number => -userId

/** The playground has no budget: only the balance limits its calls. */
export const isPlayground = (tokenId: number): boolean => tokenId < 0

/** The name that is shown in place of a token's name. */
export const PLAYGROUND_NAME = 'playground'
