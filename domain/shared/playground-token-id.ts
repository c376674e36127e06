/**
 * Returns the token id for calls from a user's playground in the console. These calls need no
 * token. The id is different for each user and is not the id of any token, so that the usage of
 * each playground and each token stays separate.
 */
export const playgroundTokenId = (userId: number): number => -userId

/**
 * Reports whether a token id belongs to a user's playground. Calls from the playground have no
 * token budget, so only the user's balance limits them.
 */
export const isPlayground = (tokenId: number): boolean => tokenId < 0

export const PLAYGROUND_NAME = 'playground'
