import type { Fact, Recorded, Sealed } from '../shared/event.ts'

/** All tokens of one owner share one stream, so that a batch of them is one event. */
export const tokensStream = (userId: number): string => `tokens-${userId}`

/** The stream in which the ids of all tokens are assigned. */
export const TOKEN_IDS_STREAM = 'token-ids'

/** The most calls (and successful calls) per period; 0 means no limit. */
export type TokenRateLimit = {
  readonly isEnabled: boolean
  readonly periodSeconds: number
  readonly count: number
  readonly success: number
}

/** Sealed with the owner's key; `plain` where version 1 recorded it in plain text. */
export type TokenName = Sealed | { readonly plain: string }

/** The settings that the owner can change. The budget belongs to the account (`TokenBudgetSet`). */
export type TokenTerms = {
  readonly name: TokenName
  /** Unix seconds; null means never. */
  readonly expiresAt: number | null
  /** Empty for the user's own group. */
  readonly group: string
  /** null allows every model of the group. */
  readonly models: readonly string[] | null
  /** One address or CIDR per line; null allows every address. */
  readonly allowIps: Sealed | null
  readonly rateLimit: TokenRateLimit
  /** The most tokens of its calls in any minute, estimated at their start; 0 means no limit. */
  readonly tokensPerMinute: number
  /** The most simultaneous calls; 0 means no limit for this token. */
  readonly maxConcurrency: number
}

/** The settings shared by tokens that are created together. */
export type SharedTerms = Omit<TokenTerms, 'name'>

/** The terms of a token that narrows nothing: what its user may call is the limit. */
export const UNRESTRICTED_TERMS: SharedTerms = {
  expiresAt: null,
  group: '',
  models: null,
  allowIps: null,
  rateLimit: { isEnabled: false, periodSeconds: 60, count: 0, success: 0 },
  tokensPerMinute: 0,
  maxConcurrency: 0,
}

export type NewToken = {
  readonly tokenId: number
  readonly name: TokenName
  /** A keyed hash of the key, by which the relay finds the token. */
  readonly keyLookup: string
  /** The vault reference of the key, for its owner. */
  readonly keyRef: string
  /** The last four characters of the key. */
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

/** Only tokens whose status changed are listed. */
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

/** The latest version of each event. */
export const TOKEN_VERSIONS: Readonly<Record<TokenEvent['type'], number>> = {
  TokensCreated: 2,
  TokenTermsChanged: 2,
  TokensEnabled: 1,
  TokensDisabled: 1,
  TokensDeleted: 1,
}

/** The shape of version 1. */
type Named = { readonly name: string }

/** Converts a recorded event to its latest version: version 1 had names in plain text. */
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

/** The ids `first` to `first + count - 1` are assigned to that user permanently. */
export type TokenIdsTaken = Fact<
  'TokenIdsTaken',
  { readonly userId: number; readonly first: number; readonly count: number }
>
