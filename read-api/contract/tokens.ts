import Type, { type Static } from 'typebox'
import { choiceOf, Envelope, IdParams, Page, Query } from './envelope.ts'
import { answerProperties } from './field-schemas.ts'
import { RATE_LIMIT_FIELDS, TOKEN_FIELDS } from './token-fields.ts'

/** The fields that calls and time change, which the live socket pushes. */
export const TokenState = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  /** 1 enabled, 2 disabled, 3 expired, 4 exhausted. */
  status: Type.Integer(),
  remain_quota: Type.Integer(),
  used_quota: Type.Integer(),
  unlimited_quota: Type.Boolean(),
  /** Unix seconds; -1 means never. */
  expired_time: Type.Integer(),
  /** The time of the last call in Unix seconds; 0 means never. */
  accessed_time: Type.Integer(),
})
export type TokenState = Static<typeof TokenState>

export const Token = Type.Object({
  ...TokenState.properties,
  user_id: Type.Integer(),
  key: Type.String({
    description:
      'The key without sk-, only in a session of its owner. An access token gets asterisks ' +
      'and the last four characters.',
  }),
  created_time: Type.Integer(),
  ...answerProperties(RATE_LIMIT_FIELDS),
  model_limits_enabled: Type.Boolean(),
  /** Comma-separated. */
  model_limits: Type.String(),
  ...answerProperties(TOKEN_FIELDS),
})
export type Token = Static<typeof Token>

/** The columns that the list can be sorted by. */
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
] as const

const SearchTokens = Type.Object({
  ...Query.page,
  keyword: Query.text,
  token: Query.text,
  status: Type.Optional(Type.String({ pattern: '^[1-4]?$' })),
  sort: choiceOf(TOKEN_SORTS),
  order: choiceOf(['asc', 'desc']),
})

const listTokens = { querystring: SearchTokens, response: { 200: Envelope(Page(Token)) } }

export const tokenQueries = {
  'GET /api/token/': listTokens,
  'GET /api/token/search': listTokens,
  'GET /api/token/:id': { params: IdParams, response: { 200: Envelope(Token) } },
}
