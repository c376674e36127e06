import Type, { type Static } from 'typebox'
import { day } from '#read-api/contract/margins.ts'
import { Done, Envelope } from '#read-api/contract/response-envelope.ts'

const column = Type.String({ minLength: 1, maxLength: 200 })

/**
 * The options of an import: the names of the columns, as in the first row of the file, and the
 * format of the numbers.
 */
export const ImportProviderInvoice = Type.Object({
  channel_id: Type.String({ pattern: '^[1-9][0-9]{0,14}$' }),
  day: column,
  model: column,
  amount: column,
  tokens: Type.Optional(column),
  /**
   * The column with the provider's request ids. A row with a request id that equals an earlier row
   * in all columns is a duplicate, and is not summed.
   */
  request_id: Type.Optional(column),
  delimiter: Type.Optional(Type.String({ pattern: '^[,;\t|]$' })),
  decimal: Type.Optional(Type.String({ pattern: '^[.,]$' })),
  currency: Type.Optional(Type.String({ pattern: '^[A-Z]{3}$' })),
  /** The price of one unit of the currency in dollars. Required unless the currency is USD. */
  dollars: Type.Optional(Type.String({ pattern: '^[0-9]{1,6}([.][0-9]{1,12})?$' })),
  /**
   * The first UTC day that the invoice covers; `last_day` is the last one. By default, the invoice
   * covers the days from the first to the last usage. Both days are required if there is a gap of
   * more than seven days without usage. Rows outside of these days are corrections.
   */
  first_day: Type.Optional(day),
  last_day: Type.Optional(day),
  /** A JSON object that maps the provider's names of models to the names of this site. */
  models: Type.Optional(Type.String({ maxLength: 20_000 })),
})
export type ImportProviderInvoice = Static<typeof ImportProviderInvoice>

export const providerInvoiceActions = {
  'POST /api/audit/invoices': {
    summary: 'Import an invoice of a provider as a CSV file (text/csv, at most 50 MB)',
    querystring: ImportProviderInvoice,
    response: {
      200: Envelope(
        Type.Object({
          id: Type.String(),
          rows: Type.Integer(),
          duplicates: Type.Integer(),
          lines: Type.Integer(),
          /**
           * The number of request ids that other invoices of the channel contain as well. Null if
           * the number is not known yet; `GET /api/audit/invoices/:id` returns it later.
           */
          known_ids: Type.Union([Type.Integer(), Type.Null()]),
        }),
      ),
    },
  },
  'DELETE /api/audit/invoices/:id': {
    summary: 'Delete an imported invoice',
    params: Type.Object({ id: Type.String({ pattern: '^[0-9a-f-]{36}$' }) }),
    response: { 200: Done },
  },
}
