/**
 * What stands for a token where a user calls by the console, which needs none: no token's id, and
 * this user's alone, so that whatever is counted by token stays one user's.
 */
export const playgroundOf = (userId: number): number => -userId

/** It has no budget of its own: the balance is all there is. */
export const isPlayground = (tokenId: number): boolean => tokenId < 0

/** The name it goes by where a token's would stand. */
export const PLAYGROUND_NAME = 'playground'
