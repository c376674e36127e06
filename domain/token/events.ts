import type { Fact, Sealed } from '../shared/event.ts'

export const tokenStream = (tokenId: number): string => `token-${tokenId}`

/** Calls (and successful calls) per period; 0 means no limit on that count. */
export type TokenRateLimit = {
  readonly isEnabled: boolean
  readonly periodSeconds: number
  readonly count: number
  readonly success: number
}

/** What the owner can change. Its budget is the account's affair (`TokenBudgetSet`). */
export type TokenTerms = {
  readonly name: string
  /** Unix seconds; null never expires. */
  readonly expiresAt: number | null
  /** Empty: the user's own group. */
  readonly group: string
  /** null: every model of the group. */
  readonly models: readonly string[] | null
  /** One address or CIDR per line; null allows every address. */
  readonly allowIps: Sealed | null
  readonly rateLimit: TokenRateLimit
}

export type TokenCreated = Fact<
  'TokenCreated',
  {
    readonly tokenId: number
    readonly userId: number
    readonly terms: TokenTerms
    /** Keyed hash of the key: how the relay finds the token. */
    readonly keyLookup: string
    /** Vault reference of the key itself, for its owner. */
    readonly keyRef: string
    /** The key's last four characters. */
    readonly keyHint: string
  }
>

export type TokenTermsChanged = Fact<
  'TokenTermsChanged',
  { readonly tokenId: number; readonly userId: number; readonly terms: TokenTerms }
>

export type TokenEnabled = Fact<
  'TokenEnabled',
  { readonly tokenId: number; readonly userId: number }
>

export type TokenDisabled = Fact<
  'TokenDisabled',
  { readonly tokenId: number; readonly userId: number }
>

export type TokenDeleted = Fact<
  'TokenDeleted',
  { readonly tokenId: number; readonly userId: number }
>

export type TokenEvent =
  | TokenCreated
  | TokenTermsChanged
  | TokenEnabled
  | TokenDisabled
  | TokenDeleted
