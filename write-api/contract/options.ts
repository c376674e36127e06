import Type, { type Static } from 'typebox'
import { Done, Envelope, IdParams } from '#read-api/contract/response-envelope.ts'

export const PutOption = Type.Object({
  key: Type.String({ minLength: 1, maxLength: 200 }),
  value: Type.String({ maxLength: 250000 }),
  /**
   * The value that the caller has read. If the current value differs, the error is `OptionChanged`.
   */
  before: Type.Optional(Type.String({ maxLength: 250000 })),
})
export type PutOption = Static<typeof PutOption>

/**
 * A scheduled value: a decimal as text, or `true` or `false` for the boolean option. null removes
 * the entry.
 */
export const PlannedEntry = Type.Object({
  option: Type.String({ minLength: 1, maxLength: 200 }),
  /**
   * The name of the entry, empty for a fallback price. A special ratio has two groups, such as `vip
   * > default`, or `["a > b","default"]` if a group's name contains `>`.
   */
  name: Type.String({ maxLength: 1100 }),
  value: Type.Union([Type.String({ minLength: 1, maxLength: 64 }), Type.Null()]),
})
export type PlannedEntry = Static<typeof PlannedEntry>

export const SchedulePrices = Type.Object({
  /** When the change is due, in unix seconds. */
  at: Type.Integer({ minimum: 1, maximum: 253402300799 }),
  changes: Type.Array(PlannedEntry, { maxItems: 2000 }),
  /** The id of a scheduled change, which is cancelled in the same append. */
  replaces: Type.Optional(Type.Integer({ minimum: 1 })),
})
export type SchedulePrices = Static<typeof SchedulePrices>

/** A draft of a price list. Omitted options have their current values. */
export const PreviewPrices = Type.Object({
  prices: Type.Record(
    Type.String({ minLength: 1, maxLength: 200 }),
    Type.String({ maxLength: 250000 }),
    { maxProperties: 50 },
  ),
  /** The start and end of the range in unix seconds. The default is the last seven days. */
  start_timestamp: Type.Optional(Type.Integer({ minimum: 0, maximum: 253402300799 })),
  end_timestamp: Type.Optional(Type.Integer({ minimum: 0, maximum: 253402300799 })),
})
export type PreviewPrices = Static<typeof PreviewPrices>

const figures = {
  calls: Type.Integer(),
  /** The quota that was charged, and the quota at the draft prices (`drafted`). */
  charged: Type.Integer(),
  drafted: Type.Integer(),
  /** The calls without a price in the draft, which are not part of `drafted`. */
  refused: Type.Integer(),
}

export const PricePreview = Type.Object({
  ...figures,
  start_timestamp: Type.Integer(),
  end_timestamp: Type.Integer(),
  /** False if the time limit ended the preview. The sums cover only calls up to `end_timestamp`. */
  is_complete: Type.Boolean(),
  /** At most a hundred models, with the largest differences between `charged` and `drafted`. */
  models: Type.Array(Type.Object({ model: Type.String(), ...figures })),
  users: Type.Array(Type.Object({ user_id: Type.Integer(), username: Type.String(), ...figures })),
})
export type PricePreview = Static<typeof PricePreview>

export const TestMail = Type.Object({ to: Type.String({ maxLength: 320 }) })
export type TestMail = Static<typeof TestMail>

export const optionActions = {
  'POST /api/option/test_mail': {
    summary: 'Send a test mail with the saved SMTP options',
    body: TestMail,
    response: { 200: Done },
  },
  'POST /api/option/price_preview': {
    summary: 'Compute what a draft price list would have charged; writes nothing',
    body: PreviewPrices,
    response: { 200: Envelope(PricePreview) },
  },
  'PUT /api/option/': { summary: 'Set one option', body: PutOption, response: { 200: Done } },
  'POST /api/option/rest_model_ratio': {
    summary: 'Reset the model ratios to the built-in ones',
    response: { 200: Done },
  },
  'POST /api/option/price_schedule': {
    summary: 'Schedule a change of prices',
    body: SchedulePrices,
    response: { 200: Envelope(Type.Object({ id: Type.Integer() })) },
  },
  'DELETE /api/option/price_schedule/:id': {
    summary: 'Cancel a scheduled change of prices',
    params: IdParams,
    response: { 200: Done },
  },
}
