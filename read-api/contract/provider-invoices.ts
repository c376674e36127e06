import Type, { type Static } from 'typebox'
import { Query } from './request-parameters.ts'
import { Envelope } from './response-envelope.ts'

const summary = {
  id: Type.String(),
  channel_id: Type.Integer(),
  /** The name of the channel. A deleted channel keeps its name. Empty if the channel is unknown. */
  channel_name: Type.String(),
  /** The SHA-256 of the imported file, in hexadecimal digits. */
  digest: Type.String(),
  bytes: Type.Integer(),
  rows: Type.Integer(),
  /**
   * The number of rows that repeated an earlier row with a request id. No sum includes these rows.
   */
  duplicates: Type.Integer(),
  currency: Type.String(),
  dollars: Type.String(),
  /**
   * The first and the last day that the invoice covers. An invoice that has only credits covers no
   * day. For such an invoice, the two fields are the first and the last day of the invoice's rows.
   */
  first_day: Type.String(),
  last_day: Type.String(),
  /**
   * The number of rows for days that the invoice does not cover. Such rows are credits and
   * corrections. `corrections_billed` is the amount of these rows in quota.
   */
  corrections: Type.Integer(),
  corrections_billed: Type.Integer(),
  /** The amount that the provider bills, in quota. */
  billed: Type.Integer(),
  /**
   * True if the amounts in dollars are too large to be summed, usually because the exchange rate
   * was inverted. In this case, amounts in quota are limited to the largest number that a response
   * can contain, and the margins do not include the invoice.
   */
  is_out_of_range: Type.Boolean(),
  imported_at: Type.Integer(),
}

export const ProviderInvoiceSummary = Type.Object(summary)
export type ProviderInvoiceSummary = Static<typeof ProviderInvoiceSummary>

export const COMPARISONS = ['matched', 'different', 'only_ours', 'only_theirs'] as const
export type Comparison = (typeof COMPARISONS)[number]

const figures = {
  /**
   * `rows` and `billed_tokens` are the numbers of rows and tokens in the invoice. `billed` is the
   * amount of the invoice in quota.
   */
  rows: Type.Integer(),
  billed_tokens: Type.Integer(),
  billed: Type.Integer(),
  /** The exact amount in the invoice's currency, as a decimal. */
  amount: Type.String(),
  /**
   * `calls` and `tokens` are the numbers that this site recorded. `cost` is the sum of the expected
   * costs of the calls, in quota. Unknown costs are left out of this sum.
   */
  calls: Type.Integer(),
  tokens: Type.Integer(),
  cost: Type.Integer(),
  /** The amount that callers were charged, in quota. The margin is `charged` minus `billed`. */
  charged: Type.Integer(),
  margin: Type.Integer(),
}

export const ProviderInvoiceItem = Type.Object({
  day: Type.String(),
  model: Type.String(),
  comparison: Type.Unsafe<Comparison>(
    Type.Union(COMPARISONS.map((comparison) => Type.Literal(comparison))),
  ),
  ...figures,
})
export type ProviderInvoiceItem = Static<typeof ProviderInvoiceItem>

/**
 * The result of a comparison. The lines of an invoice with the same request id are summed and
 * compared with the call of this id:
 * - `matched`: the billed amount is the expected cost of the call, with a tolerance of one percent.
 * - `different`: the billed amount or the tokens differ from the recorded values of the call.
 * - `other_model`: the amount and the tokens agree, but a line has another model than the call.
 * - `cost_unknown`: the expected cost of the call is unknown, and all other values agree.
 * - `other_period`: the call ended more than a day before or after the days of the invoice.
 * - `failed`: nobody was charged for the attempt with this id.
 * - `unknown`: no attempt of the channel has this id. The line is compared by day and model
 *   instead.
 * - `duplicate`: the line is a complete copy of an earlier line. No sum includes the line.
 * - `only_ours`: this is not a line, but a call whose request id is not in the invoice.
 */
export const REQUEST_MATCHES = [
  ...(['matched', 'different', 'other_model', 'cost_unknown', 'other_period', 'failed'] as const),
  ...(['unknown', 'duplicate', 'only_ours'] as const),
] as const
export type RequestMatch = (typeof REQUEST_MATCHES)[number]

/** The comparison of invoice lines with calls by the request ids of the provider. */
const ProviderInvoiceRequests = Type.Object({
  /**
   * The number of request ids for each match result. For `duplicate`: the number of lines. For
   * `only_ours`: the number of calls.
   */
  counts: Type.Record(Type.String(), Type.Integer()),
  /**
   * The sums of the lines that were matched to calls, and of these calls. The items by day and
   * model include neither these lines nor these calls.
   */
  ...figures,
  /**
   * The number of request ids that are also in other invoices of the channel. The same rows may
   * have been imported in another file.
   */
  known_ids: Type.Integer(),
  /** The amount of the duplicate lines, in quota. */
  duplicates_billed: Type.Integer(),
})

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/**
 * The lines of an invoice with one request id, and the call to which these lines were matched. For
 * `only_ours`: a call that is not in the invoice.
 */
export const ProviderInvoiceRequest = Type.Object({
  /**
   * The number of the row in the file. The row with the column names is row 1. 0 for a call that is
   * not in the invoice.
   */
  row: Type.Integer(),
  /**
   * The number of rows with this request id. The sum of these rows is compared with the call.
   * `row`, `day` and `model` are the values of the first row.
   */
  rows: Type.Integer(),
  match: Type.Unsafe<RequestMatch>(Type.Union(REQUEST_MATCHES.map((one) => Type.Literal(one)))),
  /** The id that the provider gave to the request. */
  upstream_id: Type.String(),
  day: Type.String(),
  model: Type.String(),
  amount: Type.String(),
  billed: Type.Integer(),
  billed_tokens: Type.Integer(),
  /**
   * The call on this site, or null if there is none. `GET /api/audit/calls/:requestId` explains the
   * call.
   */
  call: nullable(
    Type.Object({
      request_id: Type.String(),
      user_id: Type.Integer(),
      ended_at: Type.Integer(),
      model: Type.String(),
      tokens: Type.Integer(),
      /** The expected cost of the call in quota, or null if the cost is unknown. */
      cost: nullable(Type.Integer()),
      charged: Type.Integer(),
    }),
  ),
  /**
   * `billed` minus the expected cost of the call. Null if there is no call or its cost is unknown.
   */
  difference: nullable(Type.Integer()),
})
export type ProviderInvoiceRequest = Static<typeof ProviderInvoiceRequest>

export const ProviderInvoiceComparison = Type.Object({
  ...summary,
  /** Null for an invoice that was imported without request ids. */
  requests: nullable(ProviderInvoiceRequests),
  /** For each comparison result, the number of pairs of a day and a model. */
  counts: Type.Record(Type.String(), Type.Integer()),
  total: Type.Object(figures),
  models: Type.Array(Type.Object({ model: Type.String(), ...figures })),
  items: Type.Array(ProviderInvoiceItem),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
})
export type ProviderInvoiceComparison = Static<typeof ProviderInvoiceComparison>

const params = Type.Object({ id: Type.String({ pattern: '^[0-9a-f-]{36}$' }) })

const comparison = Type.Optional(
  Type.Unsafe<Comparison | ''>(Type.Union([...COMPARISONS, ''].map((one) => Type.Literal(one)))),
)
const match = Type.Unsafe<RequestMatch>(Type.Union(REQUEST_MATCHES.map((one) => Type.Literal(one))))

export const providerInvoiceQueries = {
  'GET /api/audit/invoices': {
    summary: 'List imported invoices of providers, newest first',
    response: { 200: Envelope(Type.Array(ProviderInvoiceSummary)) },
  },
  'GET /api/audit/invoices/:id': {
    summary: 'Compare an invoice with the usage of its channel, by day and model',
    params,
    querystring: Type.Object({
      comparison,
      cursor: Query.integer,
      limit: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$' })),
    }),
    response: { 200: Envelope(ProviderInvoiceComparison) },
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
          items: Type.Array(ProviderInvoiceRequest),
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
