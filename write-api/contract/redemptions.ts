import Type, { type Static } from 'typebox'
import { REDEMPTION_KEY_MAX, REDEMPTION_TERMS } from '#read-api/contract/redemption-fields.ts'
import { Id, IdParams } from '#read-api/contract/request-parameters.ts'
import { Done, Envelope } from '#read-api/contract/response-envelope.ts'
import { requestProperties } from '#read-api/contract/schemas-from-field-definitions.ts'

const REDEMPTION_BATCH_MAX = 1000

const terms = requestProperties(REDEMPTION_TERMS)

export const CreateRedemption = Type.Object({
  ...terms,
  /** The number of codes to create, each with a different key. */
  count: Type.Optional(Type.Integer({ minimum: -1000000, maximum: 1000000 })),
  /** A custom key. If it is empty, a key is generated. */
  key: Type.Optional(Type.String({ maxLength: REDEMPTION_KEY_MAX })),
})
export type CreateRedemption = Static<typeof CreateRedemption>

/**
 * A change of a code. Omitted fields are not changed. A client may send back a complete row.
 * `count` has no effect, and `key` must be empty or the key of the code.
 */
export const UpdateRedemption = Type.Object({
  ...Type.Partial(Type.Object(terms)).properties,
  id: Id,
  key: Type.Optional(Type.String({ maxLength: REDEMPTION_KEY_MAX })),
  /**
   * With `status_only=true` in the query, 1 enables the code and 2 disables it. In any other
   * request, `status` is ignored.
   */
  status: Type.Optional(Type.Integer({ minimum: 0, maximum: 3 })),
})
export type UpdateRedemption = Static<typeof UpdateRedemption>

const RedemptionIds = Type.Object({
  ids: Type.Array(Id, { maxItems: REDEMPTION_BATCH_MAX }),
})

const RedeemCode = Type.Object({ key: Type.String({ maxLength: 200 }) })

/** The result of redeeming a code. `quota` is the quota that was credited. */
export const Redeemed = Type.Object({ quota: Type.Integer(), is_gift: Type.Boolean() })
export type Redeemed = Static<typeof Redeemed>

const ByName = Type.Object({ name: Type.String({ maxLength: 200 }) })

const StatusOnly = Type.Object({
  status_only: Type.Optional(Type.Union([Type.Literal('true'), Type.Literal('false')])),
})

export const redemptionActions = {
  'POST /api/redemption/': {
    summary:
      'Create one or `count` redemption codes; returns their keys; a retry with the ' +
      'same Idempotency-Key header returns the same keys',
    body: CreateRedemption,
    response: { 200: Envelope(Type.Array(Type.String())) },
  },
  'DELETE /api/redemption/:id/': {
    summary: 'Delete a redemption code',
    params: IdParams,
    response: { 200: Done },
  },
  'DELETE /api/redemption/delete-by-name': {
    summary: 'Delete every redemption code with this name; returns how many',
    querystring: ByName,
    response: { 200: Envelope(Type.Integer()) },
  },
  'DELETE /api/redemption/delete-disabled': {
    summary: 'Delete every disabled redemption code; returns how many',
    response: { 200: Envelope(Type.Integer()) },
  },
  'PUT /api/redemption/batch-disable': {
    summary: 'Disable the unused codes among these; returns how many',
    body: RedemptionIds,
    response: { 200: Envelope(Type.Integer()) },
  },
  'POST /api/user/topup': {
    summary: 'Redeem a code; returns the credited quota',
    body: RedeemCode,
    response: { 200: Envelope(Redeemed) },
  },
  'PUT /api/redemption/': {
    summary: 'Change an enabled code, or with status_only=true enable (1) or disable (2) it',
    body: UpdateRedemption,
    querystring: StatusOnly,
    response: { 200: Done },
  },
}
