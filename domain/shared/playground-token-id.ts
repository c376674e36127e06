/**
 * The token id for calls from the console's playground, which need no token. Each user has a
 * different id, and no token has such an id. Usage by token id therefore stays separate.
 */
export const playgroundTokenId = (userId: number): number => -userId

/** Calls from the playground have no token budget, so only the user's balance limits them. */
export const isPlayground = (tokenId: number): boolean => tokenId < 0

export const PLAYGROUND_NAME = 'playground'
