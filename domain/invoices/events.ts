import { type CodedError, codedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import type { Fact } from '../shared/event.ts'

/** The stream of all imported invoices. */
export const INVOICES_STREAM = 'invoices'

/** Returns the stream of the lines of an invoice that have ids of the provider's requests. */
export const invoiceRequestsStream = (invoiceId: string): string => `invoice-requests-${invoiceId}`

/** The rows of an invoice for one day and one model. */
export type InvoiceLine = {
  /** The UTC day: `2026-11-28`. */
  readonly day: string
  /** The model by the name of this site. */
  readonly model: string
  readonly rows: number
  readonly tokens: number
  /** In billionths of the invoice's currency. It is negative if credits exceed charges. */
  readonly amount: number
}

/** An admin imported a provider's invoice. Its rows are kept as sums by day and model. */
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
     * The rows that repeated the id of an earlier row with an amount of the same sign. They are not
     * in the sums.
     */
    readonly duplicates: number
    /** The sum of the amounts of the duplicates, in billionths. Omitted if it is 0. */
    readonly duplicatesAmount?: number
    /** The number of rows with ids, which are in a stream of the invoice. Omitted if it is 0. */
    readonly requests?: number
    readonly currency: string
    /** The price of one unit of the currency in dollars, as a decimal. */
    readonly dollars: string
    readonly lines: readonly InvoiceLine[]
    readonly importedAt: number
  }
>

export type InvoiceDeleted = Fact<'InvoiceDeleted', { readonly invoiceId: string }>

/**
 * A row of an invoice with the provider's id of a request. `row` is its number in the file, and
 * `amount` is in billionths of the currency. The last member marks a duplicate.
 */
export type InvoiceRequest = readonly [
  row: number,
  day: string,
  model: string,
  requestId: string,
  tokens: number,
  amount: number,
  isDuplicate?: true,
]

/**
 * A part of the rows of an invoice that have ids. All parts are recorded before the import, so that
 * an imported invoice is complete. The parts of an import that failed have no meaning.
 */
export type InvoiceRequestsRecorded = Fact<
  'InvoiceRequestsRecorded',
  {
    readonly invoiceId: string
    /** The number of the part within the invoice, starting at 0. */
    readonly part: number
    readonly requests: readonly InvoiceRequest[]
  }
>

export type InvoiceEvent = InvoiceImported | InvoiceDeleted

export type Invoice = InvoiceImported['data']

/** The invoices that are not deleted, oldest first. */
export type InvoicesState = { readonly invoices: readonly Invoice[] }

export type InvoiceCommand =
  | ({ readonly type: 'ImportInvoice' } & Invoice)
  | { readonly type: 'DeleteInvoice'; readonly invoiceId: string }

export type InvoiceErrorCode =
  /** The same file was imported for the channel. Params: `id`. */
  | 'InvoiceKnown'
  | 'InvoiceUnknown'
  /** Params: `max`. */
  | 'TooManyInvoices'

const INVOICES_MAX = 100

export const invoicesDecider: Decider<
  InvoicesState,
  InvoiceCommand,
  InvoiceEvent,
  CodedError<InvoiceErrorCode>
> = {
  initialState: () => ({ invoices: [] }),
  decide: (command, { invoices }) => {
    const { invoiceId } = command
    const existing = invoices.find((one) => one.invoiceId === invoiceId)
    if (command.type === 'DeleteInvoice') {
      if (existing === undefined) return codedError('InvoiceUnknown')
      return [{ type: 'InvoiceDeleted', v: 1, data: { invoiceId } }]
    }
    const { type, ...data } = command
    const same = invoices.find(
      ({ digest, channelId }) => digest === data.digest && channelId === data.channelId,
    )
    if (same !== undefined) return codedError('InvoiceKnown', { id: same.invoiceId })
    if (invoices.length >= INVOICES_MAX) return codedError('TooManyInvoices', { max: INVOICES_MAX })
    return [{ type: 'InvoiceImported', v: 1, data }]
  },
  evolve: ({ invoices }, event) =>
    event.type === 'InvoiceImported'
      ? { invoices: [...invoices, event.data] }
      : { invoices: invoices.filter(({ invoiceId }) => invoiceId !== event.data.invoiceId) },
}

type InvoiceRequestsCommand = {
  readonly type: 'RecordInvoiceRequests'
} & InvoiceRequestsRecorded['data']

/** Records the parts of an invoice in their order. A part that is repeated changes nothing. */
export const invoiceRequestsDecider: Decider<
  { readonly parts: number },
  InvoiceRequestsCommand,
  InvoiceRequestsRecorded,
  CodedError<never>
> = {
  initialState: () => ({ parts: 0 }),
  decide: ({ type, ...data }, { parts }) =>
    data.part === parts ? [{ type: 'InvoiceRequestsRecorded', v: 1, data }] : [],
  evolve: (_state, { data }) => ({ parts: data.part + 1 }),
}
