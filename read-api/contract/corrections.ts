import Type, { type Static } from 'typebox'
import { Query } from './request-parameters.ts'
import { Envelope } from './response-envelope.ts'

/** The changes that a correction has made so far. */
export const AppliedSums = Type.Object({
  calls: Type.Integer(),
  refunded: Type.Integer(),
  charged: Type.Integer(),
  /** The part of the higher charges that the balances of the accounts did not cover. */
  unpaid: Type.Integer(),
})
export type AppliedSums = Static<typeof AppliedSums>

/**
 * A correction of the charges of many calls: the selected calls, the new price, the reason and the
 * progress.
 */
export const Correction = Type.Object({
  id: Type.String(),
  model: Type.String(),
  group: Type.Union([Type.String(), Type.Null()]),
  /** Only calls that ended between `from` and `to` (Unix seconds, both inclusive) are corrected. */
  from: Type.Integer(),
  to: Type.Integer(),
  /**
   * The corrected price: the ratios and dollar amounts with which the calls should have been
   * charged.
   */
  price: Type.Record(Type.String(), Type.String()),
  /**
   * The sums of the preview that the admin confirmed. `applied` contains the sums of the changes
   * made so far.
   */
  calls: Type.Integer(),
  accounts: Type.Integer(),
  refunded: Type.Integer(),
  charged: Type.Integer(),
  applied: AppliedSums,
  /** The reason that the admin wrote. Empty if the admin's data has been erased. */
  reason: Type.String(),
  requested_by: Type.Integer(),
  /**
   * The name of the admin with the id `requested_by`. Empty if the admin's data has been erased.
   */
  requested_by_name: Type.String(),
  started_at: Type.Integer(),
  /**
   * The time at which the correction ended, in Unix seconds. Null if the correction is running or
   * was interrupted.
   */
  finished_at: Type.Union([Type.Integer(), Type.Null()]),
  /** The accounts that could not be corrected, each with an error code. */
  failed: Type.Array(
    Type.Object({ user_id: Type.Integer(), calls: Type.Integer(), code: Type.String() }),
  ),
  /**
   * A text with which a client can continue an interrupted correction. Null if the correction has
   * finished.
   */
  preview: Type.Union([Type.String(), Type.Null()]),
})
export type Correction = Static<typeof Correction>

export const correctionQueries = {
  'GET /api/audit/corrections': {
    summary: 'List corrections of charges, newest first',
    querystring: Type.Object({
      cursor: Query.integer,
      limit: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$' })),
    }),
    response: {
      200: Envelope(
        Type.Object({
          items: Type.Array(Correction),
          next_cursor: Type.Union([Type.String(), Type.Null()]),
        }),
      ),
    },
  },
}
