import type { Fact, Recorded, Sealed } from '../shared/event.ts'

/**
 * Returns the name of the stream of a user's tokens. All tokens of a user share one stream, so that
 * a change of several tokens is one event.
 */
export const tokensStream = (userId: number): string => `tokens-${userId}`

/** The stream in which the ids of all users' tokens are assigned. */
export const TOKEN_IDS_STREAM = 'token-ids'

/**
 * The rate limit of a token: at most `count` calls and at most `success` successful calls per
 * period. 0 means no limit.
 */
export type TokenRateLimit = {
  readonly isEnabled: boolean
  readonly periodSeconds: number
  readonly count: number
  readonly success: number
}

/**
 * A token's name, encrypted with its owner's key. In version 1 of the events, the name is plain
 * text (`plain`).
 */
export type TokenName = Sealed | { readonly plain: string }

/** The settings of a token that its owner can change. The token's budget is part of the account. */
export type TokenTerms = {
  readonly name: TokenName
  /** The time at which the token expires, in Unix seconds. Null if the token never expires. */
  readonly expiresAt: number | null
  /** The group of the token's calls. If it is empty, the group of the user applies. */
  readonly group: string
  readonly models: readonly string[] | null
  /** One IP address or CIDR range per line. Null means all addresses. */
  readonly allowIps: Sealed | null
  readonly rateLimit: TokenRateLimit
  /**
   * The maximum number of model tokens per minute. The tokens of a call are estimated when the call
   * starts. 0 means no limit.
   */
  readonly tokensPerMinute: number
  /** The maximum number of simultaneous calls with this token. 0 means no limit. */
  readonly maxConcurrency: number
}

/** The settings of tokens that are created together. */
export type SharedTerms = Omit<TokenTerms, 'name'>

/**
 * The terms of a caller without a token, such as a session in the playground. Each limit is 0,
 * which means no limit. A new token has the defaults of the API contract instead. Its rate limit is
 * also disabled, but contains the counts that the form suggests to an owner who enables it.
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
  /** The keyed hash of the key. The relay finds the token by this hash. */
  readonly keyLookup: string
  /** The vault reference of the key, which the owner can read. */
  readonly keyRef: string
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

/** An event about several tokens of a user. The event contains only the tokens that change. */
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

export const TOKEN_VERSIONS: Readonly<Record<TokenEvent['type'], number>> = {
  TokensCreated: 2,
  TokenTermsChanged: 2,
  TokensEnabled: 1,
  TokensDisabled: 1,
  TokensDeleted: 1,
}

type NameInPlainText = { readonly name: string }

/** Converts an event to its latest version. Version 1 had the token's name as plain text. */
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

const plainName = (recorded: object): TokenName => ({ plain: (recorded as NameInPlainText).name })

/** The ids from `first` to `first + count - 1` were permanently assigned to tokens of a user. */
export type TokenIdsTaken = Fact<
  'TokenIdsTaken',
  { readonly userId: number; readonly first: number; readonly count: number }
>
