import { assert } from '../shared/assert.ts'
import { type CodedError, codedError, truncateNames } from '../shared/coded-error.ts'
import type { Decider, SnapshotCodec } from '../shared/decider.ts'
import { isSame } from '../shared/deep-equal.ts'
import {
  type NewToken,
  type SharedTerms,
  type TokenEvent,
  type TokenIdsTaken,
  type TokenTerms,
  upcastToken,
} from './events.ts'

/**
 * Creates tokens that differ only in names and keys. The same append assigns their ids (see
 * `AssignTokenIds`).
 */
type CreateTokens = {
  readonly type: 'CreateTokens'
  readonly userId: number
  readonly terms: SharedTerms
  readonly tokens: readonly NewToken[]
}

type ChangeTerms = {
  readonly type: 'ChangeTerms'
  readonly userId: number
  readonly tokenId: number
  readonly terms: TokenTerms
}

/**
 * A command that changes several tokens of one user. If one of these tokens is unknown, none is
 * changed.
 */
type ForTokens<Type extends string> = {
  readonly type: Type
  readonly userId: number
  readonly tokenIds: readonly number[]
}

/**
 * Enables tokens. `now` is in Unix seconds. `exhausted` contains the tokens whose budget in the
 * account is used up. `names` contains the tokens' names for error messages.
 */
type EnableTokens = ForTokens<'EnableTokens'> & {
  readonly now: number
  readonly exhausted: readonly number[]
  readonly names: ReadonlyMap<number, string>
}
type DisableTokens = ForTokens<'DisableTokens'>
type DeleteTokens = ForTokens<'DeleteTokens'>

export type TokenCommand = CreateTokens | ChangeTerms | EnableTokens | DisableTokens | DeleteTokens

export type TokenErrorCode =
  /**
   * The token does not exist, was deleted, or belongs to another user. Params for several tokens:
   * `tokenId`.
   */
  | 'TokenUnknown'
  | 'TokenExists'
  /** The token has expired. Params for several tokens: `names` and `more`. */
  | 'TokenExpired'
  /** The token's budget is used up. Params for several tokens: `names` and `more`. */
  | 'TokenExhausted'
  /** The user would have too many tokens. Params: `limit`. */
  | 'TooManyTokens'

export type TokenError = CodedError<TokenErrorCode>

type TokenRecord = {
  readonly keyRef: string
  readonly terms: TokenTerms
  readonly isEnabled: boolean
}

/**
 * `highestId` is the highest id of a token so far, so that ids of deleted tokens are not reused.
 */
type TokensState = { readonly tokens: Map<number, TokenRecord>; highestId: number }

const noTokens = (): TokensState => ({ tokens: new Map(), highestId: 0 })

/** The maximum number of tokens per user. */
export const TOKENS_MAX = 1_000

type Outcome = readonly TokenEvent[] | TokenError

type Stored = { readonly tokens: readonly [number, TokenRecord][]; readonly highestId: number }

const snapshot: SnapshotCodec<TokensState> = {
  version: 2,
  encode: ({ tokens, highestId }): Stored => ({ tokens: [...tokens], highestId }),
  decode: (stored) => {
    const { tokens, highestId } = stored as Stored
    return { tokens: new Map(tokens), highestId }
  },
}

export const tokenDecider: Decider<TokensState, TokenCommand, TokenEvent, TokenError> = {
  initialState: noTokens,
  decide,
  evolve,
  snapshot,
}

function decide(command: TokenCommand, state: TokensState): Outcome {
  if (command.type === 'CreateTokens') return create(command, state)
  if (command.type === 'ChangeTerms') return change(command, state)
  const { userId } = command
  const selected = [...new Set(command.tokenIds)]
  const unknown = selected.find((tokenId) => !state.tokens.has(tokenId))
  if (unknown !== undefined) {
    return codedError('TokenUnknown', selected.length > 1 ? { tokenId: unknown } : undefined)
  }
  const among = (isEnabled: boolean) =>
    selected.filter((tokenId) => state.tokens.get(tokenId)?.isEnabled === isEnabled)
  switch (command.type) {
    case 'EnableTokens':
      return (
        unusableError(command, selected, state) ?? unlessNone('TokensEnabled', userId, among(false))
      )
    case 'DisableTokens':
      return unlessNone('TokensDisabled', userId, among(true))
    case 'DeleteTokens':
      return unlessNone('TokensDeleted', userId, selected)
  }
}

const unlessNone = (
  type: 'TokensEnabled' | 'TokensDisabled' | 'TokensDeleted',
  userId: number,
  tokenIds: readonly number[],
): Outcome => (tokenIds.length === 0 ? [] : [{ type, v: 1, data: { userId, tokenIds } }])

/**
 * Returns an error if one of the selected tokens has expired or has used up its budget. Otherwise
 * returns null.
 */
function unusableError(
  { now, exhausted, names }: EnableTokens,
  selected: readonly number[],
  { tokens }: TokensState,
): TokenError | null {
  const records = selected.map((id) => ({ id, terms: tokens.get(id)?.terms }))
  const isOver = (expiresAt: number | null | undefined) => expiresAt != null && expiresAt <= now
  const expired = records.filter(({ terms }) => isOver(terms?.expiresAt))
  const used = records.filter(({ id }) => exhausted.includes(id))
  for (const [code, some] of [
    ['TokenExpired', expired],
    ['TokenExhausted', used],
  ] as const) {
    if (some.length === 0) continue
    const tokenNames = some.flatMap(({ id }) => names.get(id) ?? [])
    return codedError(code, selected.length > 1 ? truncateNames(tokenNames) : undefined)
  }
  return null
}

function create({ type, ...data }: CreateTokens, state: TokensState): Outcome {
  const isDone = data.tokens.every(
    ({ tokenId, keyRef }) => state.tokens.get(tokenId)?.keyRef === keyRef,
  )
  if (isDone) return []
  if (data.tokens.some(({ tokenId }) => tokenId <= state.highestId))
    return codedError('TokenExists')
  if (state.tokens.size + data.tokens.length > TOKENS_MAX) {
    return codedError('TooManyTokens', { limit: TOKENS_MAX })
  }
  return [{ type: 'TokensCreated', v: 2, data }]
}

function change({ type, ...data }: ChangeTerms, { tokens }: TokensState): Outcome {
  const token = tokens.get(data.tokenId)
  if (token === undefined) return codedError('TokenUnknown')
  return isSame(data.terms, token.terms) ? [] : [{ type: 'TokenTermsChanged', v: 2, data }]
}

/** Applies an event to `state` in place. */
function evolve(state: TokensState, recorded: TokenEvent): TokensState {
  const { tokens } = state
  const event = upcastToken(recorded)
  switch (event.type) {
    case 'TokensCreated': {
      const { terms } = event.data
      for (const { tokenId, name, keyRef } of event.data.tokens) {
        tokens.set(tokenId, { keyRef, terms: { name, ...terms }, isEnabled: true })
        state.highestId = Math.max(state.highestId, tokenId)
      }
      return state
    }
    case 'TokenTermsChanged': {
      const { tokenId, terms } = event.data
      tokens.set(tokenId, { ...recordOf(state, tokenId), terms })
      return state
    }
    case 'TokensEnabled':
    case 'TokensDisabled': {
      const isEnabled = event.type === 'TokensEnabled'
      for (const id of event.data.tokenIds) tokens.set(id, { ...recordOf(state, id), isEnabled })
      return state
    }
    case 'TokensDeleted':
      for (const tokenId of event.data.tokenIds) tokens.delete(tokenId)
      return state
  }
}

function recordOf({ tokens }: TokensState, tokenId: number): TokenRecord {
  const token = tokens.get(tokenId)
  assert(token !== undefined, `an event of token ${tokenId}, which does not exist`)
  return token
}

/** Assigns `count` ids from `first`, which must be one above the highest assigned id. */
export type AssignTokenIds = {
  readonly type: 'AssignTokenIds'
  readonly userId: number
  readonly first: number
  readonly count: number
}

export type TokenIdsState = { readonly highest: number }

/**
 * Assigns the ids of new tokens. Of simultaneous commands, the first succeeds and the others
 * receive `TokenExists`. The append that assigns the ids also creates the tokens, so that no id is
 * wasted.
 */
export const tokenIdsDecider: Decider<TokenIdsState, AssignTokenIds, TokenIdsTaken, TokenError> = {
  initialState: () => ({ highest: 0 }),
  decide: ({ type, ...data }, { highest }) => {
    assert(
      Number.isSafeInteger(data.count) && data.count > 0,
      'the number of ids must be a positive integer',
    )
    if (data.first !== highest + 1) return codedError('TokenExists')
    return [{ type: 'TokenIdsTaken', v: 1, data }]
  },
  evolve: (_state, { data }) => ({ highest: data.first + data.count - 1 }),
  snapshot: {
    version: 1,
    encode: (state) => state,
    decode: (stored) => stored as TokenIdsState,
  },
}
