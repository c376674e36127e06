import { translate } from '#console/i18n/i18n.ts'
import type { FieldErrors } from '#console/ui/forms/use-draft-form.ts'
import type { Delimiter, ProviderInvoiceColumn } from './provider-invoice-csv-sample.ts'

export type ProviderInvoiceDraft = Record<ProviderInvoiceColumn, string> & {
  file: File | null
  channel_id: string
  delimiter: Delimiter
  decimal: '.' | ','
  currency: string
  dollars: string
  models: string
  first_day: string
  last_day: string
}

/**
 * Returns an error text for each invalid field. The server would find the same errors, but only
 * after a large file has been sent.
 */
export function validateProviderInvoice(
  draft: ProviderInvoiceDraft,
): FieldErrors<ProviderInvoiceDraft> {
  const { file, channel_id: channel, currency, dollars, models } = draft
  const errors: FieldErrors<ProviderInvoiceDraft> = {}
  if (file === null) errors.file = translate('reconciliation.invoice.fileMissing')
  if (!/^[1-9]\d{0,14}$/.test(channel.trim())) {
    errors.channel_id = translate('reconciliation.invoice.channelMissing')
  }
  if (file !== null) {
    for (const column of ['day', 'model', 'amount'] as const) {
      if (draft[column] === '') errors[column] = translate('reconciliation.invoice.columnMissing')
    }
  }
  if (!/^[A-Z]{3}$/.test(currency)) {
    errors.currency = translate('reconciliation.invoice.currencyInvalid')
  }
  const isRateNeeded = currency !== 'USD' || dollars !== ''
  if (isRateNeeded && (!/^\d{1,6}(?:\.\d{1,12})?$/.test(dollars) || Number(dollars) === 0)) {
    errors.dollars = translate('reconciliation.invoice.dollarsInvalid')
  }
  if (models.trim() !== '' && !isNameMap(models)) {
    errors.models = translate('reconciliation.invoice.modelsInvalid')
  }
  const { first_day: first, last_day: last } = draft
  if ((first === '') !== (last === '')) {
    errors[first === '' ? 'first_day' : 'last_day'] = translate('reconciliation.invoice.dayMissing')
  } else if (last < first) {
    errors.last_day = translate('reconciliation.invoice.daysReversed')
  }
  return errors
}

function isNameMap(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
    return Object.values(value).every((name) => typeof name === 'string' && name !== '')
  } catch {
    return false
  }
}
