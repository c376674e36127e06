import Type, { type Static } from 'typebox'
import { IdParams } from '#read-api/contract/request-parameters.ts'
import { TIME_MAX } from '#read-api/contract/resource-field-definition.ts'
import { Done, Envelope } from '#read-api/contract/response-envelope.ts'

export const PutOption = Type.Object({
  key: Type.String({ minLength: 1, maxLength: 200 }),
  value: Type.String({ maxLength: 250000 }),
  /**
   * The value that the caller has read. If the option has another value, the request fails with
   * `OptionChanged`.
   */
  before: Type.Optional(Type.String({ maxLength: 250000 })),
})
export type PutOption = Static<typeof PutOption>

/**
 * One entry of a scheduled price change. `value` is a decimal as text, or `true` or `false` for a
 * boolean option. A null `value` removes the entry.
 */
export const PlannedEntry = Type.Object({
  option: Type.String({ minLength: 1, maxLength: 200 }),
  /**
   * The name of the entry. It is empty for a fallback price. For a special ratio, it contains two
   * groups: `vip > default`, or `["a > b","default"]` if a group's name contains `>`.
   */
  name: Type.String({ maxLength: 1100 }),
  value: Type.Union([Type.String({ minLength: 1, maxLength: 64 }), Type.Null()]),
})
export type PlannedEntry = Static<typeof PlannedEntry>

export const SchedulePrices = Type.Object({
  /** The time at which the change is due, in Unix seconds. */
  at: Type.Integer({ minimum: 1, maximum: TIME_MAX }),
  changes: Type.Array(PlannedEntry, { maxItems: 2000 }),
  /**
   * The id of a scheduled change that this change replaces. The same append cancels the replaced
   * change.
   */
  replaces: Type.Optional(Type.Integer({ minimum: 1 })),
})
export type SchedulePrices = Static<typeof SchedulePrices>

/** A draft of a price list. An omitted option keeps its current value. */
export const DraftPrices = Type.Record(
  Type.String({ minLength: 1, maxLength: 200 }),
  Type.String({ maxLength: 250000 }),
  { maxProperties: 50 },
)

export const PreviewPrices = Type.Object({
  prices: DraftPrices,
  /** The start and end of the time range in Unix seconds. The default is the last seven days. */
  start_timestamp: Type.Optional(Type.Integer({ minimum: 0, maximum: TIME_MAX })),
  end_timestamp: Type.Optional(Type.Integer({ minimum: 0, maximum: TIME_MAX })),
})
export type PreviewPrices = Static<typeof PreviewPrices>

/** The charges of calls, compared with their charges at a draft of a price list. */
export const draftFigures = {
  calls: Type.Integer(),
  /**
   * `charged` is the current charge of the calls, after corrections. `drafted` is the charge at the
   * draft prices. A batch counts as one call. The drafted charge of a batch is computed from the
   * sum of the lines. This charge is slightly inexact if lines were rounded or reached a context
   * tier.
   */
  charged: Type.Integer(),
  drafted: Type.Integer(),
  /** The number of calls for which the draft has no price. `drafted` does not include them. */
  refused: Type.Integer(),
}

export const PricePreview = Type.Object({
  ...draftFigures,
  start_timestamp: Type.Integer(),
  end_timestamp: Type.Integer(),
  /**
   * False if the time limit stopped the preview early. In this case, the sums include only calls up
   * to `end_timestamp`.
   */
  is_complete: Type.Boolean(),
  /** The models with the largest differences between `charged` and `drafted`, at most a hundred. */
  models: Type.Array(Type.Object({ model: Type.String(), ...draftFigures })),
  users: Type.Array(
    Type.Object({ user_id: Type.Integer(), username: Type.String(), ...draftFigures }),
  ),
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
