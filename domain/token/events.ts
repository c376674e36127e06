import type { Fact, Recorded, Sealed } from '../shared/event.ts'

/**
 * Returns the name of the stream with all tokens of a user. The tokens share one stream, so that a
 * change of several tokens is one event.
 */
export const tokensStream = (userId: number): string => `tokens-${userId}`

/** The stream in which the ids of all users' tokens are assigned. */
export const TOKEN_IDS_STREAM = 'token-ids'

/**
 * The rate limit of a token: the maximum number of calls and the maximum number of successful calls
 * per period. 0 means no limit.
 */
export type TokenRateLimit = {
  readonly isEnabled: boolean
  readonly periodSeconds: number
  readonly count: number
  readonly success: number
}

/**
 * The name of a token, encrypted with the owner's key. Version 1 of the events recorded the name as
 * plain text (`plain`).
 */
export type TokenName = Sealed | { readonly plain: string }

/**
 * The settings of a token that its owner can change. The token's budget is not a setting: it is
 * part of the account (`TokenBudgetSet`).
 */
export type TokenTerms = {
  readonly name: TokenName
  /** The expiry in unix seconds. It is null if the token never expires. */
  readonly expiresAt: number | null
  /**
   * The group in which the token's calls are made. If it is empty, the group of the user applies.
   */
  readonly group: string
  /** The models that the token may use. null means all models of the group. */
  readonly models: readonly string[] | null
  /**
   * The IP addresses from which the token may be used: one address or CIDR range per line. null
   * means all addresses.
   */
  readonly allowIps: Sealed | null
  readonly rateLimit: TokenRateLimit
  /**
   * The maximum number of model tokens that calls with this token may use per minute. The usage of
   * a call is estimated when the call starts. 0 means no limit.
   */
  readonly tokensPerMinute: number
  /** The maximum number of simultaneous calls with this token. 0 means no limit. */
  readonly maxConcurrency: number
}

/** The settings that tokens have in common if they are created together. */
export type SharedTerms = Omit<TokenTerms, 'name'>

/**
 * The terms of a token without restrictions. Its calls are limited only by the rights of its user.
 */
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
  /** The keyed hash of the key, by which the relay finds the token. */
  readonly keyLookup: string
  /** The vault reference of the key, which the owner can read. */
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

/** An event of several tokens. It contains only the tokens whose status changes. */
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

/** The latest version of each event type. */
export const TOKEN_VERSIONS: Readonly<Record<TokenEvent['type'], number>> = {
  TokensCreated: 2,
  TokenTermsChanged: 2,
  TokensEnabled: 1,
  TokensDisabled: 1,
  TokensDeleted: 1,
}

/** The shape of a token's name in version 1 of the events. */
type Named = { readonly name: string }

/** Converts an event to its latest version. Version 1 contained the token's name as plain text. */
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

/** The ids from `first` to `first + count - 1` were permanently assigned to tokens of a user. */
export type TokenIdsTaken = Fact<
  'TokenIdsTaken',
  { readonly userId: number; readonly first: number; readonly count: number }
>
