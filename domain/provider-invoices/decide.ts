import { type CodedError, codedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import type {
  InvoiceRequestsDeleted,
  InvoiceRequestsRecorded,
  ProviderInvoice,
  ProviderInvoiceEvent,
} from './events.ts'

/** Returns the ids of all other invoices of the same channel whose rows contain request ids. */
export const otherProviderInvoiceIds = (
  { invoices }: ProviderInvoicesState,
  { invoiceId, channelId }: Pick<ProviderInvoice, 'invoiceId' | 'channelId'>,
): string[] =>
  invoices
    .filter((one) => one.channelId === channelId && one.invoiceId !== invoiceId)
    .filter(({ requests = 0 }) => requests > 0)
    .map((one) => one.invoiceId)

/** The invoices that are not deleted, oldest first. */
export type ProviderInvoicesState = { readonly invoices: readonly ProviderInvoice[] }

export type ProviderInvoiceCommand =
  | ({ readonly type: 'ImportInvoice' } & ProviderInvoice)
  | { readonly type: 'DeleteInvoice'; readonly invoiceId: string }
  /**
   * This command is refused, with its entire append, if the invoice exists. It is part of the
   * append that removes the rows of a deleted invoice or a failed import. A simultaneous import of
   * the invoice therefore either comes first or is refused.
   */
  | { readonly type: 'MustNotExist'; readonly invoiceId: string }

export type ProviderInvoiceErrorCode =
  /**
   * The same file was imported for the channel, or the invoice of `MustNotExist` exists. Params:
   * `id`, the id of the existing invoice.
   */
  | 'InvoiceKnown'
  | 'InvoiceUnknown'
  /** The maximum number of invoices is reached. Params: `max`. */
  | 'TooManyInvoices'
  /** The import took so long that its rows were removed as those of a failed import. */
  | 'InvoiceRowsRemoved'

/** The maximum number of invoices that are not deleted. */
export const PROVIDER_INVOICES_MAX = 100

/**
 * The number of events that are read at once. This number is small, because an event has up to 1
 * 000 lines (about 100 kB).
 */
const INVOICES_PER_PAGE = 20

export const providerInvoicesDecider: Decider<
  ProviderInvoicesState,
  ProviderInvoiceCommand,
  ProviderInvoiceEvent,
  CodedError<ProviderInvoiceErrorCode>
> = {
  initialState: () => ({ invoices: [] }),
  eventsPerPage: INVOICES_PER_PAGE,
  decide: (command, { invoices }) => {
    const { invoiceId } = command
    const existing = invoices.find((one) => one.invoiceId === invoiceId)
    if (command.type === 'DeleteInvoice') {
      if (existing === undefined) return codedError('InvoiceUnknown')
      return [{ type: 'InvoiceDeleted', v: 1, data: { invoiceId } }]
    }
    if (command.type === 'MustNotExist') {
      return existing === undefined ? [] : codedError('InvoiceKnown', { id: invoiceId })
    }
    const { type, ...data } = command
    const same = invoices.find(
      ({ digest, channelId }) => digest === data.digest && channelId === data.channelId,
    )
    if (same !== undefined) return codedError('InvoiceKnown', { id: same.invoiceId })
    if (invoices.length >= PROVIDER_INVOICES_MAX)
      return codedError('TooManyInvoices', { max: PROVIDER_INVOICES_MAX })
    return [{ type: 'InvoiceImported', v: 1, data }]
  },
  evolve: ({ invoices }, event) =>
    event.type === 'InvoiceImported'
      ? { invoices: [...invoices, event.data] }
      : { invoices: invoices.filter(({ invoiceId }) => invoiceId !== event.data.invoiceId) },
}

type ProviderInvoiceRequestsCommand =
  | ({ readonly type: 'RecordInvoiceRequests' } & InvoiceRequestsRecorded['data'])
  /** Deletes the first `max` parts that are not deleted yet. */
  | {
      readonly type: 'DeleteInvoiceRequests'
      readonly invoiceId: string
      readonly max: number
    }
  /**
   * This command is refused, with its entire append, unless exactly `parts` parts are recorded and
   * none is deleted. It is part of the append of an import, because the rows of an import that
   * pauses for too long are removed.
   */
  | { readonly type: 'MustBeComplete'; readonly invoiceId: string; readonly parts: number }

type ProviderInvoiceRequestsEvent = InvoiceRequestsRecorded | InvoiceRequestsDeleted

/** The numbers of recorded and of deleted parts. Parts are recorded and deleted in their order. */
export type ProviderInvoiceRequestsState = { readonly parts: number; readonly deleted: number }

/**
 * Records the parts of an invoice in their order, and deletes the parts in the same order. A part
 * that is not the next one, such as a repeated part, changes nothing. After the first deletion,
 * every part is refused. The stream is loaded in small pages, because a part that an earlier
 * release recorded has about 100 kB.
 */
export const providerInvoiceRequestsDecider: Decider<
  ProviderInvoiceRequestsState,
  ProviderInvoiceRequestsCommand,
  ProviderInvoiceRequestsEvent,
  CodedError<'InvoiceRowsRemoved'>
> = {
  initialState: () => ({ parts: 0, deleted: 0 }),
  eventsPerPage: 20,
  decide: (command, { parts, deleted }) => {
    if (command.type === 'DeleteInvoiceRequests') {
      const { invoiceId, max } = command
      const count = Math.min(max, parts - deleted)
      return Array.from({ length: count }, (_, index) => ({
        type: 'InvoiceRequestsDeleted',
        v: 1,
        data: { invoiceId, part: deleted + index },
      }))
    }
    if (command.type === 'MustBeComplete') {
      const isComplete = deleted === 0 && parts === command.parts
      return isComplete ? [] : codedError('InvoiceRowsRemoved')
    }
    const { type, ...data } = command
    if (deleted > 0) return codedError('InvoiceRowsRemoved')
    return data.part === parts ? [{ type: 'InvoiceRequestsRecorded', v: 1, data }] : []
  },
  evolve: (state, { type, data: { part } }) =>
    type === 'InvoiceRequestsDeleted'
      ? { ...state, deleted: part + 1 }
      : { ...state, parts: part + 1 },
}
