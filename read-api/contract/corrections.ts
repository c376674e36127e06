import Type, { type Static } from 'typebox'
import { Envelope, Query } from './response-envelope.ts'

/** A correction of charges: its scope, its reason and its course. */
export const Correction = Type.Object({
  id: Type.String(),
  model: Type.String(),
  group: Type.Union([Type.String(), Type.Null()]),
  /** The calls that ended from `from` to `to`, in unix seconds. */
  from: Type.Integer(),
  to: Type.Integer(),
  /** The ratios and dollars that the price should have had. */
  price: Type.Record(Type.String(), Type.String()),
  /** The sums of the preview that was confirmed. */
  calls: Type.Integer(),
  accounts: Type.Integer(),
  refunded: Type.Integer(),
  charged: Type.Integer(),
  /** The reason of the admin. Empty if the admin has been erased. */
  reason: Type.String(),
  requested_by: Type.Integer(),
  started_at: Type.Integer(),
  /** Null while the correction runs, or if it was interrupted. */
  finished_at: Type.Union([Type.Integer(), Type.Null()]),
  /** The accounts that could not be corrected, with the code of the error. */
  failed: Type.Array(
    Type.Object({ user_id: Type.Integer(), calls: Type.Integer(), code: Type.String() }),
  ),
  /** The preview with which an interrupted correction is continued. Null if it has finished. */
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
