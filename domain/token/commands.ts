import type { NewToken, SharedTerms, TokenTerms } from './events.ts'

/** One or many, alike in all but their names and keys. Their ids were taken beforehand. */
export type CreateTokens = {
  readonly type: 'CreateTokens'
  readonly userId: number
  readonly terms: SharedTerms
  readonly tokens: readonly NewToken[]
}

export type ChangeTerms = {
  readonly type: 'ChangeTerms'
  readonly userId: number
  readonly tokenId: number
  readonly terms: TokenTerms
}

/** All of them or none: an unknown one refuses the whole. */
type ForTokens<Type extends string> = {
  readonly type: Type
  readonly userId: number
  readonly tokenIds: readonly number[]
}

/**
 * `now` in unix seconds, as what tokens expire at; `exhausted` are those of them whose budget is
 * used up, which only the account knows. `names`: of those asked for, for a refusal to name them.
 */
export type EnableTokens = ForTokens<'EnableTokens'> & {
  readonly now: number
  readonly exhausted: readonly number[]
  readonly names: ReadonlyMap<number, string>
}
export type DisableTokens = ForTokens<'DisableTokens'>
export type DeleteTokens = ForTokens<'DeleteTokens'>

export type TokenCommand = CreateTokens | ChangeTerms | EnableTokens | DisableTokens | DeleteTokens
