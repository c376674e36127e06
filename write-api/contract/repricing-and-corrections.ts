import Type, { type Static } from 'typebox'
import { AppliedSums } from '#read-api/contract/corrections.ts'
import { Id } from '#read-api/contract/request-parameters.ts'
import { TIME_MAX } from '#read-api/contract/resource-field-definition.ts'
import { Envelope } from '#read-api/contract/response-envelope.ts'
import { DraftPrices, draftFigures } from './options.ts'

/**
 * The start and end of a time range in Unix seconds. A call belongs to the range in which it ended.
 */
const range = {
  from: Type.Integer({ minimum: 0, maximum: TIME_MAX }),
  to: Type.Integer({ minimum: 0, maximum: TIME_MAX }),
}

const scan = {
  ...range,
  user_id: Type.Optional(Id),
  model: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  channel_id: Type.Optional(Id),
  /** The `next_cursor` of the previous response. Omitted in the first request of a range. */
  cursor: Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$' })),
}

export const RecomputeCalls = Type.Object(scan)
export type RecomputeCalls = Static<typeof RecomputeCalls>

/** The result for the part of the range that one request can read within its time limit. */
const part = {
  /** The number of ended calls in this part of the range that have a charge. */
  calls: Type.Integer(),
  /** The sum of the charges as the events record them. */
  charged: Type.Integer(),
  /** The cursor for the next request. Null if the range is complete. */
  next_cursor: Type.Union([Type.String(), Type.Null()]),
}

const callReference = {
  request_id: Type.String(),
  position: Type.Integer(),
  user_id: Type.Integer(),
  model: Type.String(),
  charged: Type.Integer(),
}

export const Recomputation = Type.Object({
  ...part,
  /** The sum of the charges that were computed again from the usage and the price in the events. */
  recomputed: Type.Integer(),
  /**
   * The number of batches. Batches are skipped, because each line of a batch is charged separately.
   * A verification recomputes batches.
   */
  skipped: Type.Integer(),
  /** The number of calls whose recorded charge differs from the computed one. */
  different: Type.Integer(),
  /** The first hundred calls whose recorded charge differs from the computed one. */
  differences: Type.Array(Type.Object({ ...callReference, recomputed: Type.Integer() })),
})
export type Recomputation = Static<typeof Recomputation>

export const RepriceCalls = Type.Object({ ...scan, prices: DraftPrices })
export type RepriceCalls = Static<typeof RepriceCalls>

export const Repricing = Type.Object({
  ...part,
  ...draftFigures,
  /** The models, groups and users with the largest differences, at most a hundred of each. */
  models: Type.Array(Type.Object({ model: Type.String(), ...draftFigures })),
  groups: Type.Array(Type.Object({ group: Type.String(), ...draftFigures })),
  users: Type.Array(Type.Object({ user_id: Type.Integer(), ...draftFigures })),
  /** The calls with the largest differences, at most a hundred. */
  largest: Type.Array(Type.Object({ ...callReference, drafted: Type.Integer() })),
})
export type Repricing = Static<typeof Repricing>

/** A decimal of 0 or more, as text, because a number would not be exact. */
const decimal = Type.Optional(Type.String({ pattern: '^[0-9]{1,9}([.][0-9]{1,12})?$' }))

/**
 * The price that the calls should have had. If a field is omitted, each call keeps the value of its
 * recorded price.
 */
export const CorrectedPrice = Type.Object(
  {
    model_ratio: decimal,
    completion_ratio: decimal,
    cache_ratio: decimal,
    create_cache_ratio: decimal,
    image_ratio: decimal,
    audio_ratio: decimal,
    audio_completion_ratio: decimal,
    image_completion_ratio: decimal,
    /** The price in dollars per call, image or second. */
    model_price: decimal,
    group_ratio: decimal,
  },
  { additionalProperties: false },
)
export type CorrectedPrice = Static<typeof CorrectedPrice>

export const PreviewCorrection = Type.Object({
  ...range,
  model: Type.String({ minLength: 1, maxLength: 200 }),
  group: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  price: CorrectedPrice,
})
export type PreviewCorrection = Static<typeof PreviewCorrection>

/**
 * The reasons why calls are skipped. `batch`: the call pays for a batch, which is charged line by
 * line. `other-kind-of-price`: the correction changes ratios and the call has a fixed price (per
 * call, image or second), or the correction changes a fixed price and the call has ratios.
 */
export const SKIP_REASONS = ['batch', 'other-kind-of-price'] as const
export type SkipReason = (typeof SKIP_REASONS)[number]

export const CorrectionPreview = Type.Object({
  /**
   * The text to send with the confirmation. This text identifies the exact set of calls and
   * charges.
   */
  preview: Type.String(),
  id: Type.String(),
  calls: Type.Integer(),
  accounts: Type.Integer(),
  refunded: Type.Integer(),
  charged: Type.Integer(),
  /**
   * The part of `charged` that the present balances of the accounts could not pay. A balance does
   * not include the quota that is held for open calls.
   */
  unpaid: Type.Integer(),
  /**
   * The number of calls in the scope that can't be corrected. `skipped_calls` gives the reasons.
   */
  skipped: Type.Integer(),
  /** The accounts with the largest amounts, at most a hundred. */
  users: Type.Array(
    Type.Object({
      user_id: Type.Integer(),
      calls: Type.Integer(),
      /**
       * The quota by which the user's charges change. It is positive for an additional charge and
       * negative for a refund.
       */
      amount: Type.Integer(),
      /**
       * The part of the user's additional charges that the present balance and the refunds could
       * not pay.
       */
      unpaid: Type.Integer(),
    }),
  ),
  /**
   * The calls whose charges change most, at most a hundred. `charged` is the current charge, after
   * earlier corrections.
   */
  largest: Type.Array(
    Type.Object({
      request_id: Type.String(),
      user_id: Type.Integer(),
      charged: Type.Integer(),
      corrected: Type.Integer(),
    }),
  ),
  /** The first skipped calls, at most a hundred, each with the reason why it can't be corrected. */
  skipped_calls: Type.Array(
    Type.Object({
      request_id: Type.String(),
      user_id: Type.Integer(),
      reason: Type.Unsafe<SkipReason>(
        Type.Union(SKIP_REASONS.map((reason) => Type.Literal(reason))),
      ),
    }),
  ),
})
export type CorrectionPreview = Static<typeof CorrectionPreview>

export const ApplyCorrection = Type.Object({
  preview: Type.String({ minLength: 1, maxLength: 4096 }),
  reason: Type.String({ minLength: 1, maxLength: 1000 }),
})

export const AppliedCorrection = Type.Object({
  id: Type.String(),
  calls: Type.Integer(),
  accounts: Type.Integer(),
  /** The changes that were made. */
  applied: AppliedSums,
  /** The accounts that could not be corrected, each with the code of its error. */
  failed: Type.Array(
    Type.Object({ user_id: Type.Integer(), calls: Type.Integer(), code: Type.String() }),
  ),
})
export type AppliedCorrection = Static<typeof AppliedCorrection>

export const correctionActions = {
  'POST /api/audit/recompute': {
    summary: 'Charge ended calls again from their own events and list differences; writes nothing',
    body: RecomputeCalls,
    response: { 200: Envelope(Recomputation) },
  },
  'POST /api/audit/reprice': {
    summary: 'Compute what ended calls would cost under a draft price list; writes nothing',
    body: RepriceCalls,
    response: { 200: Envelope(Repricing) },
  },
  'POST /api/audit/corrections/preview': {
    summary: 'Preview a correction of charges; writes nothing',
    body: PreviewCorrection,
    response: { 200: Envelope(CorrectionPreview) },
  },
  'POST /api/audit/corrections': {
    summary: 'Apply a previewed correction of charges, or continue it',
    body: ApplyCorrection,
    response: { 200: Envelope(AppliedCorrection) },
  },
}
