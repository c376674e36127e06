import type { Fact, Recorded, Sealed } from '../shared/event.ts'

/** All of one owner's tokens: a batch of them is one event. */
export const tokensStream = (userId: number): string => `tokens-${userId}`

/** Where ids are given out, to everybody's tokens. */
export const TOKEN_IDS_STREAM = 'token-ids'

/** Calls (and successful calls) per period; 0 means no limit on that count. */
export type TokenRateLimit = {
  readonly isEnabled: boolean
  readonly periodSeconds: number
  readonly count: number
  readonly success: number
}

/** Sealed with the owner's key; as `plain` where version 1 recorded it so. */
export type TokenName = Sealed | { readonly plain: string }

/** What the owner can change. Its budget is the account's affair (`TokenBudgetSet`). */
export type TokenTerms = {
  readonly name: TokenName
  /** Unix seconds; null never expires. */
  readonly expiresAt: number | null
  /** Empty: the user's own group. */
  readonly group: string
  /** null: every model of the group. */
  readonly models: readonly string[] | null
  /** One address or CIDR per line; null allows every address. */
  readonly allowIps: Sealed | null
  readonly rateLimit: TokenRateLimit
  /** Of its calls in any minute, estimated at their start; 0 means no limit. */
  readonly tokensPerMinute: number
  /** Calls under way at once; 0 means no limit of its own. */
  readonly maxConcurrency: number
}

/** What tokens made together have in common. */
export type SharedTerms = Omit<TokenTerms, 'name'>

export type NewToken = {
  readonly tokenId: number
  readonly name: TokenName
  /** Keyed hash of the key: how the relay finds the token. */
  readonly keyLookup: string
  /** Vault reference of the key itself, for its owner. */
  readonly keyRef: string
  /** The key's last four characters. */
  readonly keyHint: string
}

export type TokensCreated = Fact<
  'TokensCreated',
  {
    readonly userId: number
    readonly terms: SharedTerms
    readonly tokens: readonly NewToken[]
  }
>

export type TokenTermsChanged = Fact<
  'TokenTermsChanged',
  { readonly userId: number; readonly tokenId: number; readonly terms: TokenTerms }
>

/** Only those that were not so before. */
type TokensFact<Type extends string> = Fact<
  Type,
  { readonly userId: number; readonly tokenIds: readonly number[] }
>

export type TokensEnabled = TokensFact<'TokensEnabled'>
export type TokensDisabled = TokensFact<'TokensDisabled'>
export type TokensDeleted = TokensFact<'TokensDeleted'>

export type TokenEvent =
  | TokensCreated
  | TokenTermsChanged
  | TokensEnabled
  | TokensDisabled
  | TokensDeleted

/** The newest version of each shape. */
export const TOKEN_VERSIONS: Readonly<Record<TokenEvent['type'], number>> = {
  TokensCreated: 2,
  TokenTermsChanged: 2,
  TokensEnabled: 1,
  TokensDisabled: 1,
  TokensDeleted: 1,
}

/** Of version 1. */
type Named = { readonly name: string }

/** An event as it was recorded, in its newest shape: version 1 held names in plain text. */
export function upcastToken<E extends TokenEvent | Recorded<TokenEvent>>(event: E): E {
  if (event.v > 1) return event
  if (event.type === 'TokensCreated') {
    const tokens = event.data.tokens.map((token) => ({ ...token, name: plainName(token) }))
    return { ...event, v: 2, data: { ...event.data, tokens } }
  }
  if (event.type === 'TokenTermsChanged') {
    const terms = { ...event.data.terms, name: plainName(event.data.terms) }
    return { ...event, v: 2, data: { ...event.data, terms } }
  }
  return event
}

const plainName = (recorded: object): TokenName => ({ plain: (recorded as Named).name })

/** Ids `first` to `first + count - 1` are that user's, for ever. */
export type TokenIdsTaken = Fact<
  'TokenIdsTaken',
  { readonly userId: number; readonly first: number; readonly count: number }
>
