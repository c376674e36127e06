import type { TokenTerms } from './events.ts'

export type CreateToken = {
  readonly type: 'CreateToken'
  readonly tokenId: number
  readonly userId: number
  readonly terms: TokenTerms
  readonly keyLookup: string
  readonly keyRef: string
  readonly keyHint: string
}

/** `userId` is who asks: another user's token looks like none at all. */
export type ChangeTerms = {
  readonly type: 'ChangeTerms'
  readonly userId: number
  readonly terms: TokenTerms
}

export type EnableToken = { readonly type: 'EnableToken'; readonly userId: number }

export type DisableToken = { readonly type: 'DisableToken'; readonly userId: number }

export type DeleteToken = { readonly type: 'DeleteToken'; readonly userId: number }

export type TokenCommand = CreateToken | ChangeTerms | EnableToken | DisableToken | DeleteToken
