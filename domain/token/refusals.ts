import type { Refusal } from '../shared/refusal.ts'

export type TokenRefusalCode =
  /** Never created, deleted, or another user's; details where several were asked for: `tokenId`. */
  | 'TokenUnknown'
  /** An id is another token's. */
  | 'TokenExists'
  /** Only another time to expire turns it on; where several were asked for: `names`, `more`. */
  | 'TokenExpired'
  /** Only more quota turns it on; details as above. */
  | 'TokenExhausted'
  /** The user would have more than `limit`. */
  | 'TooManyTokens'

export type TokenRefusal = Refusal<TokenRefusalCode>
