import Type, { type Static } from 'typebox'
import { IdParams, Query, sortedBy } from './request-parameters.ts'
import { Envelope, Page } from './response-envelope.ts'
import { responseProperties } from './schemas-from-field-definitions.ts'
import { RATE_LIMIT_FIELDS, TOKEN_FIELDS, TOKEN_STATE_FIELDS } from './token-fields.ts'

export const TokenState = Type.Object(responseProperties(TOKEN_STATE_FIELDS))
export type TokenState = Static<typeof TokenState>

export const Token = Type.Object({
  ...responseProperties(TOKEN_FIELDS),
  key: Type.String({
    description:
      'The key without sk-, only in a session of its owner. An access token gets asterisks ' +
      'and the last four characters.',
  }),
  ...responseProperties(RATE_LIMIT_FIELDS),
})
export type Token = Static<typeof Token>

/**
 * The columns by which tokens can be sorted. `key` means the last four characters, because complete
 * keys are encrypted. `model_limits` means the number of allowed models.
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
