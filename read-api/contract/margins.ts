import Type, { type Static } from 'typebox'
import { Envelope, Query } from './response-envelope.ts'

const figures = {
  calls: Type.Integer(),
  /** The quota that the callers were charged. All amounts here are in quota. */
  charged: Type.Integer(),
  /** The part of `charged` on days that an invoice of the channel covers. */
  invoiced: Type.Integer(),
  /** The amount that providers bill for these days. */
  billed: Type.Integer(),
  /** The expected costs of the calls on other days. Unknown costs are left out. */
  expected: Type.Integer(),
  /** The part of `charged` on other days whose cost is not known. It is in no margin. */
  uncosted: Type.Integer(),
  /** `charged` minus `uncosted`, `billed` and `expected`. */
  margin: Type.Integer(),
}

export const MarginItem = Type.Object({
  channel_id: Type.Integer(),
  /** An empty text if the channel has never existed. */
  channel_name: Type.String(),
  model: Type.String(),
  ...figures,
})
export type MarginItem = Static<typeof MarginItem>

const Margins = Type.Object({
  first_day: Type.String(),
  last_day: Type.String(),
  /** The exact sums of all items. */
  total: Type.Object(figures),
  /** The channels with days in several invoices, whose costs may be counted more than once. */
  overlapping_channels: Type.Array(Type.Integer()),
  /** The highest charges first. */
  items: Type.Array(MarginItem),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
})
export type Margins = Static<typeof Margins>

/** A UTC day, such as `2026-11-28`. */
const day = Type.String({ pattern: '^2[0-9]{3}-(0[1-9]|1[0-2])-[0-3][0-9]$' })

export const marginQueries = {
  'GET /api/audit/margins': {
    summary: 'Sum charges and costs by channel and model, over days from the first to the last',
    querystring: Type.Object({
      first_day: day,
      last_day: day,
      cursor: Query.integer,
      limit: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$' })),
    }),
    response: { 200: Envelope(Margins) },
  },
}
