import { amountText, type ProviderInvoice } from '#domain/provider-invoices/events.ts'
import type { RequestMatchRow } from '#projections/reconciliation/query.ts'
import type { ProviderInvoiceRequest, RequestMatch } from '../contract/provider-invoices.ts'

/**
 * Converts a line of an invoice, or a call that is not in the invoice, to the form of a response.
 */
export function invoiceLineResponse(
  row: RequestMatchRow,
  match: RequestMatch,
  invoice: ProviderInvoice,
): ProviderInvoiceRequest {
  const { place, rows, upstreamId, day, model, amount, billed, tokens } = row
  const { call, userId, endedAt, callModel, callTokens, cost, charged } = row
  return {
    row: match === 'only_ours' ? 0 : place,
    rows,
    ...{ match, upstream_id: upstreamId, day, model, billed, billed_tokens: tokens },
    amount: amountText(amount, invoice),
    call:
      call === null
        ? null
        : {
            ...{ request_id: call, user_id: userId ?? 0, ended_at: endedAt ?? 0 },
            ...{ model: callModel ?? '', tokens: callTokens ?? 0, cost, charged: charged ?? 0 },
          },
    difference: call === null || cost === null ? null : billed - cost,
  }
}
