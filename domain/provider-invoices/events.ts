import { decimalText } from '../pricing/decimal.ts'
import type { Fact } from '../shared/event.ts'

/** The stream of all imported invoices. */
export const PROVIDER_INVOICES_STREAM = 'invoices'

/** Returns the name of the stream with those rows of an invoice that contain a request id. */
export const providerInvoiceRequestsStream = (invoiceId: string): string =>
  `invoice-requests-${invoiceId}`

/** The sums of an invoice's rows for one day and one model. */
export type ProviderInvoiceLine = {
  /** The UTC day: `2026-11-28`. */
  readonly day: string
  /** The model's name on this site. */
  readonly model: string
  readonly rows: number
  readonly tokens: number
  /**
   * The amount in the invoice's units (see `decimals`). It is negative if credits exceed charges.
   */
  readonly amount: number
}

/** The first and the last UTC day of a period, such as `2026-11-01` and `2026-11-30`. */
export type Period = { readonly firstDay: string; readonly lastDay: string }

/** An admin imported a provider's invoice. The invoice's rows are kept as sums by day and model. */
export type InvoiceImported = Fact<
  'InvoiceImported',
  {
    readonly invoiceId: string
    readonly channelId: number
    /** The SHA-256 of the file in hexadecimal digits. A file is imported once per channel. */
    readonly digest: string
    readonly bytes: number
    readonly rows: number
    /**
     * The number of rows that repeated an earlier row with a request id. These rows are not
     * included in the sums. Until 2026-11-29, rows with the same id and an amount of the same sign
     * counted as duplicates, even if they differed.
     */
    readonly duplicates: number
    /** The sum of the amounts of the duplicates, in the invoice's units. Omitted if it is 0. */
    readonly duplicatesAmount?: number
    /**
     * The number of rows with a request id. These rows are recorded in a separate stream. Omitted
     * if 0.
     */
    readonly requests?: number
    readonly currency: string
    /** The price of one unit of the currency in dollars, as a decimal. */
    readonly dollars: string
    /**
     * All amounts of the invoice are integers, in units of 10^-`decimals` of the currency. If
     * `decimals` is omitted, it is 9, so the unit is a billionth of the currency.
     */
    readonly decimals?: number
    /** The period of the invoice, if the admin named one (see `periodOf`). */
    readonly period?: Period
    readonly lines: readonly ProviderInvoiceLine[]
    readonly importedAt: number
  }
>

export type InvoiceDeleted = Fact<'InvoiceDeleted', { readonly invoiceId: string }>

/**
 * A row of an invoice that contains the provider's id of a request. `row` is the number of the row
 * in the file, and `amount` is in the invoice's units. `isDuplicate` marks a duplicate.
 */
export type ProviderInvoiceRequest = readonly [
  row: number,
  day: string,
  model: string,
  requestId: string,
  tokens: number,
  amount: number,
  isDuplicate?: true,
]

/**
 * One part of the invoice rows that contain request ids. All such rows are recorded in numbered
 * parts before the invoice is imported, so that an imported invoice is complete. If the import
 * fails, the parts are never read.
 */
export type InvoiceRequestsRecorded = Fact<
  'InvoiceRequestsRecorded',
  {
    readonly invoiceId: string
    /** The number of the part within the invoice, starting at 0. */
    readonly part: number
    readonly requests: readonly ProviderInvoiceRequest[]
  }
>

/**
 * The rows of one part were deleted, because the invoice was deleted or its import failed. The read
 * model removes these rows. Each part has a separate event, so that few rows are removed at once.
 */
export type InvoiceRequestsDeleted = Fact<
  'InvoiceRequestsDeleted',
  { readonly invoiceId: string; readonly part: number }
>

export type ProviderInvoiceEvent = InvoiceImported | InvoiceDeleted

export type ProviderInvoice = InvoiceImported['data']

/** Returns the sum of an invoice's lines in the invoice's units. */
export const amountOf = ({ lines }: Pick<ProviderInvoice, 'lines'>): bigint =>
  lines.reduce((sum, { amount }) => sum + BigInt(amount), 0n)

/** The number of decimals of an invoice's amounts if the invoice does not state this number. */
export const DECIMALS = 9

/** Writes an amount in the units of an invoice as an exact decimal, such as `-0.0125`. */
export function amountText(
  amount: bigint,
  { decimals = DECIMALS }: Pick<ProviderInvoice, 'decimals'>,
): string {
  const text = decimalText({ units: amount < 0n ? -amount : amount, scale: decimals })
  const short = text.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '')
  return amount < 0n ? `-${short}` : short
}
