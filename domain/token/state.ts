import type { TokenTerms } from './events.ts'

export type KnownToken = {
  readonly keyRef: string
  readonly terms: TokenTerms
  readonly isEnabled: boolean
}

/** One user's tokens, by id. Deleted ones are gone; `highestId` tells that their ids are taken. */
export type TokensState = { readonly tokens: Map<number, KnownToken>; highestId: number }

export const noTokens = (): TokensState => ({ tokens: new Map(), highestId: 0 })
