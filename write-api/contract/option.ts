import Type, { type Static } from 'typebox'

export const PutOption = Type.Object({
  key: Type.String({ minLength: 1, maxLength: 200 }),
  value: Type.String({ maxLength: 250000 }),
  /** The value as it was read: refused (`OptionChanged`) where it is another one by now. */
  before: Type.Optional(Type.String({ maxLength: 250000 })),
})
export type PutOption = Static<typeof PutOption>

/** One entry of a price option as it is to be: a decimal as text, or a flag; null takes it out. */
export const PlannedEntry = Type.Object({
  option: Type.String({ minLength: 1, maxLength: 200 }),
  /**
   * Of special ratios both groups, `vip > default`, or as JSON where one has a `>` in it:
   * `["a > b","default"]`. Empty for fallback prices.
   */
  name: Type.String({ maxLength: 1100 }),
  value: Type.Union([Type.String({ minLength: 1, maxLength: 64 }), Type.Null()]),
})
export type PlannedEntry = Static<typeof PlannedEntry>

export const SchedulePrices = Type.Object({
  /** Unix seconds. */
  at: Type.Integer({ minimum: 1, maximum: 253402300799 }),
  changes: Type.Array(PlannedEntry, { maxItems: 2000 }),
  /** The id of a planned change, which this one takes the place of: both in one act, or neither. */
  replaces: Type.Optional(Type.Integer({ minimum: 1 })),
})
export type SchedulePrices = Static<typeof SchedulePrices>

/** A draft price list: texts of price options; those left out are as they are in force. */
export const PreviewPrices = Type.Object({
  prices: Type.Record(
    Type.String({ minLength: 1, maxLength: 200 }),
    Type.String({ maxLength: 250000 }),
    { maxProperties: 50 },
  ),
  /** Unix seconds; left out: the last seven days. */
  start_timestamp: Type.Optional(Type.Integer({ minimum: 0, maximum: 253402300799 })),
  end_timestamp: Type.Optional(Type.Integer({ minimum: 0, maximum: 253402300799 })),
})
export type PreviewPrices = Static<typeof PreviewPrices>

const figures = {
  calls: Type.Integer(),
  /** Quota: what was charged, and what the draft would have. */
  charged: Type.Integer(),
  drafted: Type.Integer(),
  /** Calls that the draft has no price for; they add nothing to `drafted`. */
  refused: Type.Integer(),
}

export const PricePreview = Type.Object({
  ...figures,
  start_timestamp: Type.Integer(),
  end_timestamp: Type.Integer(),
  /** False where time ran out: the figures are of the calls up to `end_timestamp` alone. */
  is_complete: Type.Boolean(),
  /** The hundred with the largest differences. */
  models: Type.Array(Type.Object({ model: Type.String(), ...figures })),
  users: Type.Array(Type.Object({ user_id: Type.Integer(), username: Type.String(), ...figures })),
})
export type PricePreview = Static<typeof PricePreview>
