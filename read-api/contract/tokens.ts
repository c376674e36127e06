import Type, { type Static } from 'typebox'
import { answerProperties } from './field-schemas.ts'
import { Envelope, IdParams, Page, Query, sortedBy } from './response-envelope.ts'
import { RATE_LIMIT_FIELDS, TOKEN_FIELDS } from './token-fields.ts'

/**
 * The fields that change when the token is used or when time passes. The live socket sends them.
 */
export const TokenState = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  /** 1 is enabled, 2 disabled, 3 expired, 4 exhausted. */
  status: Type.Integer(),
  remain_quota: Type.Integer(),
  used_quota: Type.Integer(),
  unlimited_quota: Type.Boolean(),
  /** The number of times that the budget was edited. Calls do not count as edits. */
  budget_version: Type.Integer(),
  /** The expiry in Unix seconds, or -1 if the token never expires. */
  expired_time: Type.Integer(),
  /** The time of the last call in Unix seconds, or 0. */
  accessed_time: Type.Integer(),
})
export type TokenState = Static<typeof TokenState>

export const Token = Type.Object({
  ...TokenState.properties,
  /**
   * A copy of `remain_quota`. A client that changes `remain_quota` sends this copy back. The server
   * then adds the difference of both to the remaining quota.
   */
  expected_remain_quota: Type.Optional(Type.Integer()),
  user_id: Type.Integer(),
  key: Type.String({
    description:
      'The key without sk-, only in a session of its owner. An access token gets asterisks ' +
      'and the last four characters.',
  }),
  created_time: Type.Integer(),
  ...answerProperties(RATE_LIMIT_FIELDS),
  model_limits_enabled: Type.Boolean(),
  /** The names of the allowed models, comma-separated. */
  model_limits: Type.String(),
  ...answerProperties(TOKEN_FIELDS),
})
export type Token = Static<typeof Token>

/**
 * The columns by which tokens can be sorted. `key` sorts by the last four characters, because
 * complete keys are encrypted. `model_limits` sorts by the number of allowed models.
 */
const TOKEN_SORTS = [
  'id',
  'name',
  'status',
  'remain_quota',
  'used_quota',
  'expired_time',
  'created_time',
  'accessed_time',
  'group',
  'key',
  'model_limits',
] as const
export type TokenSort = (typeof TOKEN_SORTS)[number]

const SearchTokens = Type.Object({
  ...Query.keysetPage,
  keyword: Query.text,
  token: Query.text,
  status: Type.Optional(Type.String({ pattern: '^[1-4]?$' })),
  ...sortedBy(TOKEN_SORTS),
})

const listTokens = { querystring: SearchTokens, response: { 200: Envelope(Page(Token)) } }

export const tokenQueries = {
  'GET /api/token/': listTokens,
  'GET /api/token/search': listTokens,
  'GET /api/token/:id': { params: IdParams, response: { 200: Envelope(Token) } },
}
