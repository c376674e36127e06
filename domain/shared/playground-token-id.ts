/**
 * The token id for calls from the console's playground, which need no token. The id is unique per
 * user and never the id of a token, so that usage counts by token id are not shared.
 */
export const playgroundTokenId = (userId: number): number => -userId

/** Calls from the playground have no token budget, so only the user's balance limits them. */
export const isPlayground = (tokenId: number): boolean => tokenId < 0

export const PLAYGROUND_NAME = 'playground'
