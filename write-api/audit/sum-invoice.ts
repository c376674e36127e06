import { createHash, hash as digestOf } from 'node:crypto'
import type { InvoiceLine, InvoiceRequest } from '#domain/invoices/events.ts'
import { dayOf } from '#domain/shared/utc-day.ts'
import { type HttpError, invalidField } from '#infra/http/http-errors.ts'
import { invoiceError } from './invoice-errors.ts'
import { CsvError, CsvParser } from './parse-csv.ts'

/** The names of the columns in the file, and the format of its numbers. */
export type InvoiceFormat = {
  readonly day: string
  readonly model: string
  readonly amount: string
  readonly tokens: string | null
  readonly requestId: string | null
  readonly delimiter: string
  readonly decimal: '.' | ','
  /** The names of this site for models, by the names of the provider. */
  readonly models: ReadonlyMap<string, string>
}

export type InvoiceSums = {
  readonly digest: string
  readonly bytes: number
  readonly rows: number
  readonly duplicates: number
  readonly duplicatesAmount?: number
  /** The number of rows with ids. */
  readonly requests?: number
  readonly lines: readonly InvoiceLine[]
}

const BYTES_MAX = 50 * 1024 * 1024
const ROWS_MAX = 500_000
const LINES_MAX = 1_000
const MODEL_LENGTH_MAX = 200
/**
 * The maximum length of an id. Longer ids of requests are not recorded as evidence, so they could
 * not match any call.
 */
const ID_LENGTH_MAX = 128
const LIMITS = { columnsMax: 200, fieldMax: 4_096 }
/**
 * Matches control characters. Postgres can't store a NUL, and names contain no other control
 * character.
 */
const CONTROL = /\p{Cc}/u
/** Billionths of the currency. */
const SCALE = 9

type Sum = { day: string; model: string; rows: number; tokens: number; amount: number }

/**
 * Reads an invoice as a stream, and sums it by day and model. `onRequest` receives the rows with
 * ids. Only the sums and the digests of the ids are kept in memory.
 */
export async function sumInvoice(
  body: AsyncIterable<Uint8Array>,
  format: InvoiceFormat,
  onRequest: (request: InvoiceRequest) => void = () => {},
): Promise<InvoiceSums> {
  const hash = createHash('sha256')
  const decoder = new TextDecoder()
  const sums = new RowSums(format, onRequest)
  let bytes = 0
  const parser = new CsvParser(format.delimiter, (fields, row) => sums.add(fields, row), LIMITS)
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
  return { digest: hash.digest('hex'), bytes, ...sums.end() }
}

/** Sums the rows of an invoice. A row that repeats an id is only counted as a duplicate. */
class RowSums {
  private readonly format: InvoiceFormat
  private readonly onRequest: (request: InvoiceRequest) => void
  private readonly sums = new Map<string, Sum>()
  /**
   * The digests of ids, each with the sign of its amount, because a credit repeats the id of a
   * charge.
   */
  private readonly ids = new Set<string>()
  private columns: Columns | null = null
  private rows = 0
  private requests = 0
  private duplicates = 0
  private duplicatesAmount = 0

  constructor(format: InvoiceFormat, onRequest: (request: InvoiceRequest) => void) {
    this.format = format
    this.onRequest = onRequest
  }

  add(fields: readonly string[], row: number): void {
    if (this.columns === null) {
      this.columns = columnsOf(fields, this.format)
      return
    }
    this.rows += 1
    if (this.rows > ROWS_MAX) throw invoiceError('InvoiceTooLarge', { max: ROWS_MAX })
    const { requestId } = this.columns
    const id = requestId === null ? '' : (fields[requestId] ?? '').trim()
    const isId = id.length <= ID_LENGTH_MAX && !CONTROL.test(id)
    if (!isId) throw rowError(row, 'request_id', 'not-an-id')
    const one = readRow(fields, row, this.columns, this.format)
    if (id === '') return addRow(this.sums, one)
    this.requests += 1
    const { day, model, tokens, amount } = one
    if (this.isNew(id, amount)) {
      addRow(this.sums, one)
      this.onRequest([row, day, model, id, tokens, amount])
      return
    }
    this.duplicates += 1
    this.duplicatesAmount = safe(this.duplicatesAmount + amount)
    this.onRequest([row, day, model, id, tokens, amount, true])
  }

  private isNew(id: string, amount: number): boolean {
    const key = digestOf('sha256', amount < 0 ? `-${id}` : `+${id}`, 'base64')
    if (this.ids.has(key)) return false
    this.ids.add(key)
    return true
  }

  end(): Omit<InvoiceSums, 'digest' | 'bytes'> {
    const { rows, requests, duplicates, duplicatesAmount } = this
    if (rows === 0) throw invoiceError('InvoiceEmpty')
    const lines = [...this.sums.values()].sort(
      (one, other) => compare(one.day, other.day) || compare(one.model, other.model),
    )
    return {
      ...{ rows, duplicates, lines },
      ...(duplicatesAmount === 0 ? {} : { duplicatesAmount }),
      ...(requests === 0 ? {} : { requests }),
    }
  }
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

/**
 * The earliest day of an invoice. No provider sold calls before, and the database can't store a day
 * of the year 0.
 */
const EARLIEST_DAY = Date.UTC(2000, 0, 1)

function readRow(
  fields: readonly string[],
  row: number,
  columns: Columns,
  { decimal, models }: InvoiceFormat,
): Sum {
  const text = (at: number) => (fields[at] ?? '').trim()
  const day = /^(\d{4}-\d{2}-\d{2})(?:$|[T ])/.exec(text(columns.day))?.[1] ?? ''
  const time = Date.parse(`${day}T00:00:00Z`)
  if (!(time >= EARLIEST_DAY) || dayOf(time) !== day) throw rowError(row, 'day', 'not-a-day')
  const name = text(columns.model)
  const model = models.get(name) ?? name
  const isName = model !== '' && model.length <= MODEL_LENGTH_MAX && !CONTROL.test(model)
  if (!isName) throw rowError(row, 'model', 'not-a-name')
  const amount = billionthsOf(text(columns.amount), decimal)
  if (amount === null) throw rowError(row, 'amount', 'not-a-number')
  const count = (columns.tokens === null ? '' : text(columns.tokens)) || '0'
  if (!/^[+-]?\d{1,15}$/.test(count)) throw rowError(row, 'tokens', 'not-an-integer')
  return { day, model, rows: 1, tokens: Number(count), amount }
}

/**
 * Parses an exact number of billionths. Returns null for other text. Grouping characters are not
 * accepted, because they could be mistaken for a decimal point. A text that starts with `=` is not
 * a number.
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
  sum.tokens = safe(sum.tokens + one.tokens)
  sum.amount = safe(sum.amount + one.amount)
}

/** Returns a sum. Throws if the sum is too large to be exact. */
function safe(sum: number): number {
  if (!Number.isSafeInteger(sum)) throw invoiceError('InvoiceTooLarge', { max: ROWS_MAX })
  return sum
}

const rowError = (row: number, column: string, problem: string): HttpError =>
  invoiceError('InvoiceRowInvalid', { row, column, problem })
