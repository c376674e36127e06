import Type, { type Static } from 'typebox'
import { Query } from './request-parameters.ts'
import { Envelope } from './response-envelope.ts'

const figures = {
  calls: Type.Integer(),
  /** The quota that callers were charged. All amounts are in quota. */
  charged: Type.Integer(),
  /** The part of `charged` for days that an invoice of the channel covers. */
  invoiced: Type.Integer(),
  /**
   * The amount that providers bill in invoices for days of the range, including corrections for
   * days that no invoice covers.
   */
  billed: Type.Integer(),
  /** The expected costs of the calls on days without an invoice. Unknown costs are left out. */
  expected: Type.Integer(),
  /**
   * The part of `charged` for calls with an unknown cost on days without an invoice. `margin` does
   * not include this part.
   */
  uncosted: Type.Integer(),
  /** `charged` minus `uncosted`, `billed` and `expected`. */
  margin: Type.Integer(),
}

export const MarginItem = Type.Object({
  channel_id: Type.Integer(),
  /** The name of the channel. Empty if the channel has never existed. */
  channel_name: Type.String(),
  model: Type.String(),
  ...figures,
})
export type MarginItem = Static<typeof MarginItem>

const Margins = Type.Object({
  first_day: Type.String(),
  last_day: Type.String(),
  /** The exact sums of all items, including the items on other pages. */
  total: Type.Object(figures),
  /**
   * The channels that have several invoices for the same day. The costs of these channels can be
   * counted more than once.
   */
  overlapping_channels: Type.Array(Type.Integer()),
  /**
   * The channels with invoices whose amounts are too large to be summed (`is_out_of_range`). No sum
   * includes these invoices.
   */
  out_of_range_channels: Type.Array(Type.Integer()),
  /** One page of the items, the highest charges first. */
  items: Type.Array(MarginItem),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
})
export type Margins = Static<typeof Margins>

/** A UTC day, such as `2026-11-28`. */
export const day = Type.String({ pattern: '^2[0-9]{3}-(0[1-9]|1[0-2])-[0-3][0-9]$' })

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
