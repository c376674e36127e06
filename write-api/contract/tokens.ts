import Type, { type Static } from 'typebox'
import { Id, IdParams } from '#read-api/contract/request-parameters.ts'
import { writableFields } from '#read-api/contract/resource-field-definition.ts'
import { Done, Envelope, ErrorEnvelope } from '#read-api/contract/response-envelope.ts'
import { requestProperties } from '#read-api/contract/schemas-from-field-definitions.ts'
import {
  RATE_LIMIT_FIELDS,
  TOKEN_BATCH_MAX,
  TOKEN_FIELDS,
} from '#read-api/contract/token-fields.ts'

const { remainQuota } = TOKEN_FIELDS
const QUOTA_RANGE = { minimum: remainQuota.min, maximum: remainQuota.max }

/** The fields of a new token. An omitted field gets its default. */
export const CreateToken = Type.Object({
  ...requestProperties(writableFields(TOKEN_FIELDS)),
  ...requestProperties(RATE_LIMIT_FIELDS),
  /**
   * The number of tokens to create. The first token has the requested name. The names of all other
   * tokens have a random suffix.
   */
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: TOKEN_BATCH_MAX })),
})
export type CreateToken = Static<typeof CreateToken>

/**
 * A change of a token. `remain_quota` is the remaining quota that the client wants to set. A client
 * may also send the values that the client has read: `expected_remain_quota` and `budget_version`.
 * In this case, the difference between `remain_quota` and `expected_remain_quota` is added to the
 * quota, so that calls made since the read still count. If the quota is lowered, the result is at
 * most `remain_quota`. If the budget was edited since `budget_version`, the change is rejected with
 * 409.
 */
export const UpdateToken = Type.Object({
  ...Type.Partial(Type.Omit(CreateToken, ['count'])).properties,
  id: Id,
  remain_quota: Type.Optional(
    Type.Integer({
      ...QUOTA_RANGE,
      description:
        'The difference from expected_remain_quota is added to the remaining quota. Rejected ' +
        'with 409 if the budget was edited after budget_version.',
    }),
  ),
  /**
   * The remaining quota that the client has read. The default is the value that this session or
   * access token received or set last, if any. A request without `budget_version` is rejected with
   * 409 if the quota now differs from this value.
   */
  expected_remain_quota: Type.Optional(Type.Integer(QUOTA_RANGE)),
  budget_version: Type.Optional(Type.Integer({ minimum: 0, maximum: 999999999999999 })),
  /**
   * 1 enables the token, and 2 disables it. 0, 3 and 4 change nothing, so that a client can send
   * back a row with any status.
   */
  status: Type.Optional(Type.Integer({ minimum: 0, maximum: 4 })),
})
export type UpdateToken = Static<typeof UpdateToken>

export const TokenIds = Type.Object({ ids: Type.Array(Id, { maxItems: 1000 }) })
export type TokenIds = Static<typeof TokenIds>

/** 1 enables the tokens, and 2 disables them. */
export const TokenStatuses = Type.Object({
  ...TokenIds.properties,
  status: Type.Union([Type.Literal(1), Type.Literal(2)]),
})
export type TokenStatuses = Static<typeof TokenStatuses>

const CreatedBody = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  key: Type.String(),
  /**
   * The ids of the new tokens, in the order in which the tokens were created. `names` and `keys`
   * have the same order.
   */
  ids: Type.Array(Type.Integer()),
  names: Type.Array(Type.String()),
  keys: Type.Array(Type.String()),
})

const StatusOnly = Type.Object({
  status_only: Type.Optional(Type.Union([Type.Literal('true'), Type.Literal('false')])),
})

export const tokenActions = {
  'POST /api/token/': {
    summary: 'Create one or `count` tokens; returns their keys',
    body: CreateToken,
    response: { 200: Envelope(CreatedBody) },
  },
  'DELETE /api/token/:id/': {
    summary: 'Delete a token',
    params: IdParams,
    response: { 200: Done },
  },
  'POST /api/token/batch': {
    summary: 'Delete several tokens, all or none',
    body: TokenIds,
    response: { 200: Envelope(Type.Integer()) },
  },
  'POST /api/token/batch/status': {
    summary: 'Enable (1) or disable (2) several tokens, all or none',
    body: TokenStatuses,
    response: { 200: Done },
  },
  'PUT /api/token/': {
    summary: 'Change a token, or with status_only=true enable (1) or disable (2) it',
    body: UpdateToken,
    querystring: StatusOnly,
    response: { 200: Done, 409: ErrorEnvelope },
  },
}
