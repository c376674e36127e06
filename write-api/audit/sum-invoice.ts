import { createHash } from 'node:crypto'
import type { InvoiceLine } from '#domain/invoices/events.ts'
import { dayOf } from '#domain/shared/utc-day.ts'
import { type HttpError, invalidField } from '#infra/http/http-errors.ts'
import { invoiceError } from './invoice-errors.ts'
import { CsvError, CsvParser } from './parse-csv.ts'

/** The names of the file's columns, and how its numbers are written. */
export type InvoiceFormat = {
  readonly day: string
  readonly model: string
  readonly amount: string
  readonly tokens: string | null
  readonly requestId: string | null
  readonly delimiter: string
  readonly decimal: '.' | ','
  /** The provider's names of models, with the names of this site. */
  readonly models: ReadonlyMap<string, string>
}

export type InvoiceSums = {
  readonly digest: string
  readonly bytes: number
  readonly rows: number
  readonly duplicates: number
  readonly lines: readonly InvoiceLine[]
}

const BYTES_MAX = 50 * 1024 * 1024
const ROWS_MAX = 500_000
const LINES_MAX = 1_000
const MODEL_LENGTH_MAX = 200
const LIMITS = { columnsMax: 200, fieldMax: 4_096 }
/** Billionths of the currency. */
const SCALE = 9

type Sum = { day: string; model: string; rows: number; tokens: number; amount: number }

/**
 * Reads an invoice as a stream and sums it by day and model. The memory is bounded by the number of
 * sums and by eight bytes for each row that has an id.
 */
export async function sumInvoice(
  body: AsyncIterable<Uint8Array>,
  format: InvoiceFormat,
): Promise<InvoiceSums> {
  const hash = createHash('sha256')
  const decoder = new TextDecoder()
  const sums = new Map<string, Sum>()
  const ids = new Set<number>()
  let [bytes, rows, duplicates] = [0, 0, 0]
  let columns: Columns | null = null
  const parser = new CsvParser(
    format.delimiter,
    (fields, row) => {
      if (columns === null) {
        columns = columnsOf(fields, format)
        return
      }
      rows += 1
      if (rows > ROWS_MAX) throw invoiceError('InvoiceTooLarge', { max: ROWS_MAX })
      const id = columns.requestId === null ? '' : (fields[columns.requestId] ?? '').trim()
      if (id !== '' && !addNew(ids, id)) duplicates += 1
      else addRow(sums, readRow(fields, row, columns, format))
    },
    LIMITS,
  )
  try {
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > BYTES_MAX) throw invoiceError('InvoiceTooLarge', { max: ROWS_MAX })
      hash.update(chunk)
      parser.push(decoder.decode(chunk, { stream: true }))
    }
    parser.push(decoder.decode())
    parser.end()
  } catch (error) {
    if (error instanceof CsvError) throw rowError(error.row, 'csv', error.problem)
    throw error
  }
  if (rows === 0) throw invoiceError('InvoiceEmpty')
  const lines = [...sums.values()].sort(
    (one, other) => compare(one.day, other.day) || compare(one.model, other.model),
  )
  return { digest: hash.digest('hex'), bytes, rows, duplicates, lines }
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

type Columns = Readonly<Record<'day' | 'model' | 'amount', number>> &
  Readonly<Record<'tokens' | 'requestId', number | null>>

function columnsOf(header: readonly string[], format: InvoiceFormat): Columns {
  const names = header.map((name) => name.trim())
  const find = (field: string, name: string): number => {
    const at = names.indexOf(name)
    if (at >= 0) return at
    throw invalidField(field, { zh: '文件中没有该列', en: 'is not a column of the file' })
  }
  const { tokens, requestId } = format
  return {
    day: find('day', format.day),
    model: find('model', format.model),
    amount: find('amount', format.amount),
    tokens: tokens === null ? null : find('tokens', tokens),
    requestId: requestId === null ? null : find('request_id', requestId),
  }
}

/** Remembers the first 52 bits of the id's hash. Returns false if they were remembered before. */
function addNew(ids: Set<number>, id: string): boolean {
  const hash = createHash('sha256').update(id).digest()
  const key = hash.readUIntBE(0, 6) * 16 + ((hash[6] ?? 0) >> 4)
  if (ids.has(key)) return false
  ids.add(key)
  return true
}

function readRow(
  fields: readonly string[],
  row: number,
  columns: Columns,
  { decimal, models }: InvoiceFormat,
): Sum {
  const text = (at: number) => (fields[at] ?? '').trim()
  const day = /^(\d{4}-\d{2}-\d{2})(?:$|[T ])/.exec(text(columns.day))?.[1] ?? ''
  const time = Date.parse(`${day}T00:00:00Z`)
  if (Number.isNaN(time) || dayOf(time) !== day) throw rowError(row, 'day', 'not-a-day')
  const name = text(columns.model)
  const model = models.get(name) ?? name
  if (model === '' || model.length > MODEL_LENGTH_MAX) throw rowError(row, 'model', 'not-a-name')
  const amount = billionthsOf(text(columns.amount), decimal)
  if (amount === null) throw rowError(row, 'amount', 'not-a-number')
  const tokens = columns.tokens === null ? 0 : Number(text(columns.tokens) || '0')
  if (!Number.isSafeInteger(tokens)) throw rowError(row, 'tokens', 'not-an-integer')
  return { day, model, rows: 1, tokens, amount }
}

/**
 * Reads an exact number of billionths, or null. Grouping characters are not accepted, because they
 * could be mistaken for a decimal point. A text that starts with `=` is no number.
 */
export function billionthsOf(text: string, decimal: '.' | ','): number | null {
  const form = decimal === '.' ? /^([+-]?)(\d{1,9})(?:\.(\d+))?$/ : /^([+-]?)(\d{1,9})(?:,(\d+))?$/
  const [, sign, whole, fraction = ''] = form.exec(text) ?? []
  if (whole === undefined) return null
  const digits = fraction.replace(/0+$/, '')
  if (digits.length > SCALE) return null
  const amount = Number(whole + digits.padEnd(SCALE, '0'))
  if (!Number.isSafeInteger(amount)) return null
  return sign === '-' ? 0 - amount : amount
}

function addRow(sums: Map<string, Sum>, one: Sum): void {
  const key = `${one.day} ${one.model}`
  const sum = sums.get(key)
  if (sum === undefined) {
    if (sums.size === LINES_MAX) throw invoiceError('InvoiceTooVaried', { max: LINES_MAX })
    sums.set(key, one)
    return
  }
  sum.rows += 1
  sum.tokens += one.tokens
  sum.amount += one.amount
  if (!Number.isSafeInteger(sum.amount) || !Number.isSafeInteger(sum.tokens)) {
    throw invoiceError('InvoiceTooLarge', { max: ROWS_MAX })
  }
}

const rowError = (row: number, column: string, problem: string): HttpError =>
  invoiceError('InvoiceRowInvalid', { row, column, problem })
