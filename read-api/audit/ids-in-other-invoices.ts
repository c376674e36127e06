import type { CommonQueryMethods } from 'slonik'
import { otherProviderInvoiceIds } from '#domain/provider-invoices/decide.ts'
import type { ProviderInvoice } from '#domain/provider-invoices/events.ts'
import { countKnownIds, countLines } from '#projections/reconciliation/query.ts'

type Count = { readonly others: string; readonly count: Promise<number> }

/**
 * Counts the request ids of an invoice that other invoices of the channel contain too. The lines of
 * invoices never change, so the count is kept until another invoice of the channel is imported or
 * deleted. The count is not kept while the read model lacks lines of one of the invoices.
 */
export class IdsInOtherInvoices {
  private readonly db: CommonQueryMethods
  /** The counts by the id of the invoice. */
  private readonly counts = new Map<string, Count>()

  constructor(db: CommonQueryMethods) {
    this.db = db
  }

  count(invoice: ProviderInvoice, invoices: readonly ProviderInvoice[]): Promise<number> {
    const ids = (invoice.requests ?? 0) === 0 ? [] : otherProviderInvoiceIds({ invoices }, invoice)
    if (ids.length === 0) return Promise.resolve(0)
    const { invoiceId } = invoice
    const others = ids.join()
    const kept = this.counts.get(invoiceId)
    if (kept?.others === others) return kept.count
    this.forgetDeleted(invoices)
    const count = this.read(invoice, ids, invoices)
    this.counts.set(invoiceId, { others, count })
    count.catch(() => this.forget(invoiceId, count))
    return count
  }

  private async read(
    { invoiceId }: ProviderInvoice,
    others: readonly string[],
    invoices: readonly ProviderInvoice[],
  ): Promise<number> {
    const ids = [invoiceId, ...others]
    const expected = invoices
      .filter((one) => ids.includes(one.invoiceId))
      .reduce((sum, { requests = 0 }) => sum + requests, 0)
    const isComplete = (await countLines(this.db, ids)) === expected
    const count = await countKnownIds(this.db, invoiceId, others)
    if (!isComplete) this.counts.delete(invoiceId)
    return count
  }

  private forget(invoiceId: string, count: Promise<number>): void {
    if (this.counts.get(invoiceId)?.count === count) this.counts.delete(invoiceId)
  }

  private forgetDeleted(invoices: readonly ProviderInvoice[]): void {
    const existing = new Set(invoices.map(({ invoiceId }) => invoiceId))
    for (const id of this.counts.keys()) if (!existing.has(id)) this.counts.delete(id)
  }
}
