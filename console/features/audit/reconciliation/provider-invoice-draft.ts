import { translate } from '#console/i18n/i18n.ts'
import type { FieldErrors } from '#console/ui/forms/use-draft-form.ts'

/**
 * The kinds of columns in the CSV file of an invoice, in the order of the form's fields. The first
 * three are required.
 */
export const PROVIDER_INVOICE_COLUMNS = ['day', 'model', 'amount', 'tokens', 'request_id'] as const
type ProviderInvoiceColumn = (typeof PROVIDER_INVOICE_COLUMNS)[number]

export const DELIMITERS = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'pipe' } as const
export type Delimiter = keyof typeof DELIMITERS

export type CsvSample = {
  readonly delimiter: Delimiter
  readonly header: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

const SAMPLE_BYTES = 64 * 1024
const ROWS_SHOWN = 3

/**
 * Reads the first rows of a CSV file and guesses its delimiter. The form shows these rows and
 * guesses the columns from them. Only the server reads the whole file.
 */
export async function readSample(file: Blob): Promise<CsvSample> {
  const text = await startOf(file)
  const firstLine = /^[^\r\n]*/.exec(text)?.[0] ?? ''
  const delimiter = delimiterOf(firstLine)
  return sampleWith(text, delimiter)
}

/** Reads the first rows of a CSV file with a delimiter that the user has selected. */
export async function readSampleWith(file: Blob, delimiter: Delimiter): Promise<CsvSample> {
  return sampleWith(await startOf(file), delimiter)
}

/** Decodes the start of a file as the server does: UTF-8, or UTF-16 with a byte order mark. */
async function startOf(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.slice(0, SAMPLE_BYTES).arrayBuffer())
  const isUtf16 = (first: number, second: number) => bytes[0] === first && bytes[1] === second
  const encoding = isUtf16(0xff, 0xfe) ? 'utf-16le' : isUtf16(0xfe, 0xff) ? 'utf-16be' : 'utf-8'
  return new TextDecoder(encoding).decode(bytes)
}

function sampleWith(text: string, delimiter: Delimiter): CsvSample {
  const [header = [], ...rows] = recordsOf(text, delimiter, ROWS_SHOWN + 1)
  return { delimiter, header: header.map((name) => name.trim()), rows }
}

/** Returns the delimiter that occurs most often in the first line. */
function delimiterOf(line: string): Delimiter {
  const count = (one: string): number => line.split(one).length
  const names = Object.keys(DELIMITERS) as Delimiter[]
  return names.reduce((best, one) => (count(one) > count(best) ? one : best))
}

/** Splits CSV text (RFC 4180) into at most `max` records. Empty lines are skipped. */
function recordsOf(text: string, delimiter: string, max: number): string[][] {
  const records: string[][] = []
  let [fields, field, isQuoted] = [[] as string[], '', false]
  const endRecord = (): void => {
    fields.push(field)
    if (fields.length > 1 || field !== '') records.push(fields)
    fields = []
    field = ''
  }
  for (let at = 0; at < text.length && records.length < max; at += 1) {
    const character = text[at]
    if (isQuoted) {
      if (character !== '"') field += character
      else if (text[at + 1] === '"') {
        field += '"'
        at += 1
      } else isQuoted = false
    } else if (character === '"' && field === '') isQuoted = true
    else if (character === delimiter) {
      fields.push(field)
      field = ''
    } else if (character === '\n') endRecord()
    else if (character !== '\r') field += character
  }
  if (records.length < max) endRecord()
  return records
}

/**
 * Patterns for the names that providers give to the columns of their exports. For each kind of
 * column, the first pattern with a match in the header selects the column.
 */
const PATTERNS: Readonly<Record<ProviderInvoiceColumn, readonly RegExp[]>> = {
  day: [/^(?:date|day|usage_date|usage date|日期)$/i, /date|day|time|日期|时间/i],
  model: [/^(?:model|model_name|模型)$/i, /model|模型/i],
  amount: [/^(?:cost|amount|amount_usd|金额|费用)$/i, /cost|amount|charge|price|金额|费用/i],
  tokens: [/^(?:tokens|total_tokens|total tokens)$/i, /total.*tokens?|tokens?/i],
  request_id: [/^(?:request_id|request id|请求 ?id)$/i, /request.*id|generation.*id/i],
}

/**
 * Guesses from the header which column of the file contains each kind of data. Returns the name of
 * the column for each kind, or an empty text if no column matches.
 */
export function guessColumns(header: readonly string[]): Record<ProviderInvoiceColumn, string> {
  const found = (column: ProviderInvoiceColumn): string => {
    for (const pattern of PATTERNS[column]) {
      const name = header.find((one) => pattern.test(one))
      if (name !== undefined) return name
    }
    return ''
  }
  return Object.fromEntries(
    PROVIDER_INVOICE_COLUMNS.map((column) => [column, found(column)]),
  ) as Record<ProviderInvoiceColumn, string>
}

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
 * Returns an error text for each invalid field. The server checks the same rules, but only after it
 * has received the whole file, which can be large.
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
