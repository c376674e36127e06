import type { Refusal } from '../shared/refusal.ts'

export type TokenRefusalCode =
  /** Never created, deleted, or another user's. */
  | 'TokenUnknown'
  /** The id is another token's. */
  | 'TokenExists'
  | 'NameRequired'

export type TokenRefusal = Refusal<TokenRefusalCode>
