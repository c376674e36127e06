import Type, { type Static } from 'typebox'
import { Envelope, Query } from './response-envelope.ts'

const summary = {
  id: Type.String(),
  channel_id: Type.Integer(),
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
  /** What the provider bills, in quota. */
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
  /** The calls and tokens of this site. `cost` is what they should cost, as far as it is known. */
  calls: Type.Integer(),
  tokens: Type.Integer(),
  cost: Type.Integer(),
  /** What the callers were charged. The margin is `charged` minus `billed`. */
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

export const InvoiceComparison = Type.Object({
  ...summary,
  /** The numbers of pairs of day and model, by their comparison. */
  counts: Type.Record(Type.String(), Type.Integer()),
  total: Type.Object(figures),
  models: Type.Array(Type.Object({ model: Type.String(), ...figures })),
  items: Type.Array(InvoiceItem),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
})
export type InvoiceComparison = Static<typeof InvoiceComparison>

const params = Type.Object({ id: Type.String({ pattern: '^[0-9a-f-]{36}$' }) })

export const invoiceQueries = {
  'GET /api/audit/invoices': {
    summary: 'List imported invoices of providers, newest first',
    response: { 200: Envelope(Type.Array(InvoiceSummary)) },
  },
  'GET /api/audit/invoices/:id': {
    summary: 'Compare an invoice with the usage of its channel, by day and model',
    params,
    querystring: Type.Object({
      comparison: Type.Optional(
        Type.Unsafe<Comparison | ''>(
          Type.Union([...COMPARISONS, ''].map((one) => Type.Literal(one))),
        ),
      ),
      cursor: Query.integer,
      limit: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$' })),
    }),
    response: { 200: Envelope(InvoiceComparison) },
  },
}
