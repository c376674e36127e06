import Type, { type Static } from 'typebox'

const id = Type.Integer({ minimum: 1, maximum: 999999999999999 })
/** Unix seconds; null and 0 mean unset. */
const time = Type.Union([Type.Integer({ minimum: 0, maximum: 253402300799 }), Type.Null()])

export const REDEMPTION_COUNT_MAX = 100
export const REDEMPTION_KEY_MAX = 64
export const REDEMPTION_BATCH_MAX = 1000

const terms = {
  name: Type.String({ maxLength: 200 }),
  /** Quota that each use credits. */
  quota: Type.Integer({ minimum: -9007199254740991, maximum: 9007199254740991 }),
  is_gift: Type.Optional(Type.Boolean()),
  /** Uses of a gift code; -1 and null mean unlimited. Every other code has one use. */
  max_uses: Type.Optional(
    Type.Union([Type.Integer({ minimum: -1, maximum: 1000000000 }), Type.Null()]),
  ),
  /** Unset: valid immediately. */
  valid_from: Type.Optional(time),
  /** Unset: never expires. */
  valid_until: Type.Optional(time),
}

export const CreateRedemption = Type.Object({
  ...terms,
  /** The number of codes to create, each with a different key. */
  count: Type.Optional(Type.Integer({ minimum: -1000000, maximum: 1000000 })),
  /** Empty: a key is generated. */
  key: Type.Optional(Type.String({ maxLength: REDEMPTION_KEY_MAX })),
})
export type CreateRedemption = Static<typeof CreateRedemption>

/**
 * Fields that are left out stay unchanged. A row that was read may be sent back; its key and count
 * cannot change.
 */
export const UpdateRedemption = Type.Object({
  ...Type.Partial(Type.Object(terms)).properties,
  id,
  key: Type.Optional(Type.String({ maxLength: REDEMPTION_KEY_MAX })),
  /** With `status_only`: 1 enables, 2 disables. */
  status: Type.Optional(Type.Integer({ minimum: 0, maximum: 3 })),
})
export type UpdateRedemption = Static<typeof UpdateRedemption>

export const RedemptionIds = Type.Object({
  ids: Type.Array(id, { maxItems: REDEMPTION_BATCH_MAX }),
})
export type RedemptionIds = Static<typeof RedemptionIds>

export const RedeemCode = Type.Object({ key: Type.String({ maxLength: 200 }) })
export type RedeemCode = Static<typeof RedeemCode>

/** The quota that the code credited. */
export const Redeemed = Type.Object({ quota: Type.Integer(), is_gift: Type.Boolean() })
export type Redeemed = Static<typeof Redeemed>
