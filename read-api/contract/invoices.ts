import Type, { type Static } from 'typebox'
import { Envelope, Query } from './response-envelope.ts'

const summary = {
  id: Type.String(),
  channel_id: Type.Integer(),
  /** The name of the channel, even if it was deleted. Empty for an unknown channel. */
  channel_name: Type.String(),
  /** The SHA-256 of the file, in hexadecimal digits. */
  digest: Type.String(),
  bytes: Type.Integer(),
  rows: Type.Integer(),
  /** Rows that repeated the id of an earlier row, which are not in the sums. */
  duplicates: Type.Integer(),
  currency: Type.String(),
  dollars: Type.String(),
  first_day: Type.String(),
  last_day: Type.String(),
  /** The amount that the provider bills, in quota. */
  billed: Type.Integer(),
  imported_at: Type.Integer(),
}

export const InvoiceSummary = Type.Object(summary)
export type InvoiceSummary = Static<typeof InvoiceSummary>

export const COMPARISONS = ['matched', 'different', 'only_ours', 'only_theirs'] as const
export type Comparison = (typeof COMPARISONS)[number]

const figures = {
  /** The provider's rows and tokens, and its amount in quota. */
  rows: Type.Integer(),
  billed_tokens: Type.Integer(),
  billed: Type.Integer(),
  /** The exact amount in the currency of the invoice, as a decimal. */
  amount: Type.String(),
  /** The calls and tokens of this site. `cost` is what they should cost, as far as it is known. */
  calls: Type.Integer(),
  tokens: Type.Integer(),
  cost: Type.Integer(),
  /** The charges of the callers. The margin is `charged` minus `billed`. */
  charged: Type.Integer(),
  margin: Type.Integer(),
}

export const InvoiceItem = Type.Object({
  day: Type.String(),
  model: Type.String(),
  comparison: Type.Unsafe<Comparison>(
    Type.Union(COMPARISONS.map((comparison) => Type.Literal(comparison))),
  ),
  ...figures,
})
export type InvoiceItem = Static<typeof InvoiceItem>

/**
 * How a line of the invoice with an id was matched with a call. `other_period`: the call ended more
 * than a day outside the days of the invoice. `failed`: the attempt was not charged to anybody.
 * `unknown`: no attempt of the channel has this id, so that the line is compared by day and model.
 * `duplicate`: the line repeats an earlier one and is in no sum. `only_ours`: a call whose provider
 * named an id that is not in the invoice.
 */
export const REQUEST_MATCHES = [
  ...(['matched', 'different', 'other_period', 'failed'] as const),
  ...(['unknown', 'duplicate', 'only_ours'] as const),
] as const
export type RequestMatch = (typeof REQUEST_MATCHES)[number]

/** The lines that were matched by the ids of the provider's requests. */
const InvoiceRequests = Type.Object({
  /** The numbers of lines, and of calls for `only_ours`, by their match. */
  counts: Type.Record(Type.String(), Type.Integer()),
  /** The sums of the matched lines and their calls. The sums by day and model are without them. */
  ...figures,
  /** The amount that the provider would bill for the duplicates, in quota. */
  duplicates_billed: Type.Integer(),
})

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** A line of an invoice and its call, or a call that is not in the invoice. */
export const InvoiceRequest = Type.Object({
  /** The row of the file, starting at 1 with the names of the columns. 0 for a call of ours. */
  row: Type.Integer(),
  match: Type.Unsafe<RequestMatch>(Type.Union(REQUEST_MATCHES.map((one) => Type.Literal(one)))),
  /** The provider's id of the request. */
  upstream_id: Type.String(),
  day: Type.String(),
  model: Type.String(),
  amount: Type.String(),
  billed: Type.Integer(),
  billed_tokens: Type.Integer(),
  /** The call on this site. `GET /api/audit/calls/:requestId` explains it by its request id. */
  call: nullable(
    Type.Object({
      request_id: Type.String(),
      user_id: Type.Integer(),
      ended_at: Type.Integer(),
      model: Type.String(),
      tokens: Type.Integer(),
      /** The expected cost of the call, or null if it is unknown. */
      cost: nullable(Type.Integer()),
      charged: Type.Integer(),
    }),
  ),
  /** `billed` minus the cost of the call. Null without a call or a known cost. */
  difference: nullable(Type.Integer()),
})
export type InvoiceRequest = Static<typeof InvoiceRequest>

export const InvoiceComparison = Type.Object({
  ...summary,
  /** Null for an invoice that was imported without ids of requests. */
  requests: nullable(InvoiceRequests),
  /** The numbers of pairs of day and model, by their comparison. */
  counts: Type.Record(Type.String(), Type.Integer()),
  total: Type.Object(figures),
  models: Type.Array(Type.Object({ model: Type.String(), ...figures })),
  items: Type.Array(InvoiceItem),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
})
export type InvoiceComparison = Static<typeof InvoiceComparison>

const params = Type.Object({ id: Type.String({ pattern: '^[0-9a-f-]{36}$' }) })

const comparison = Type.Optional(
  Type.Unsafe<Comparison | ''>(Type.Union([...COMPARISONS, ''].map((one) => Type.Literal(one)))),
)
const match = Type.Unsafe<RequestMatch>(Type.Union(REQUEST_MATCHES.map((one) => Type.Literal(one))))

export const invoiceQueries = {
  'GET /api/audit/invoices': {
    summary: 'List imported invoices of providers, newest first',
    response: { 200: Envelope(Type.Array(InvoiceSummary)) },
  },
  'GET /api/audit/invoices/:id': {
    summary: 'Compare an invoice with the usage of its channel, by day and model',
    params,
    querystring: Type.Object({
      comparison,
      cursor: Query.integer,
      limit: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$' })),
    }),
    response: { 200: Envelope(InvoiceComparison) },
  },
  'GET /api/audit/invoices/:id/requests': {
    summary: 'List the lines of an invoice by the ids of requests, in the order of the file',
    params,
    querystring: Type.Object({
      match,
      cursor: Query.integer,
      limit: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$' })),
    }),
    response: {
      200: Envelope(
        Type.Object({
          items: Type.Array(InvoiceRequest),
          next_cursor: Type.Union([Type.String(), Type.Null()]),
        }),
      ),
    },
  },
  'GET /api/audit/invoices/:id/export': {
    summary: 'Export the comparison of an invoice by day and model as CSV',
    params,
    querystring: Type.Object({ comparison }),
  },
  'GET /api/audit/invoices/:id/requests/export': {
    summary: 'Export the lines of an invoice that have one kind of match as CSV',
    params,
    querystring: Type.Object({ match }),
  },
}
