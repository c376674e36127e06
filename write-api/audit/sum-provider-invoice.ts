import { createHash, hash as digestOf } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sizeOf } from '#domain/provider-invoices/amounts.ts'
import type {
  ProviderInvoiceLine,
  ProviderInvoiceRequest,
} from '#domain/provider-invoices/events.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import { providerInvoiceError } from './audit-errors.ts'
import { CsvError, CsvParser, CsvTextDecoder } from './parse-csv.ts'
import {
  CONTROL,
  type Columns,
  exactMaxOf,
  type ProviderInvoiceFormat,
  type ProviderInvoiceRow,
  readRow,
  roundedAmount,
  rowError,
} from './read-provider-invoice-row.ts'

export type ProviderInvoiceSums = {
  readonly digest: string
  readonly bytes: number
  readonly rows: number
  readonly duplicates: number
  readonly duplicatesAmount?: number
  /** The number of rows that have a request id. */
  readonly requests?: number
  readonly lines: readonly ProviderInvoiceLine[]
}

const BYTES_MAX = 50 * 1024 * 1024
const ROWS_MAX = 500_000
const LINES_MAX = 1_000
/** The maximum length of a request id that is recorded with a call. */
const ID_LENGTH_MAX = 128
const ID_START_LENGTH = 60
const LIMITS = { columnsMax: 200, fieldMax: 4_096 }

/**
 * The number of bytes that are processed at once. Processing these bytes blocks the event loop for
 * a few milliseconds.
 */
const SLICE_BYTES = 64 * 1024

type Sum = {
  readonly day: string
  readonly model: string
  rows: number
  tokens: number
  /** The exact sum (see `ProviderInvoiceRow`). It is rounded once, at the end. */
  amount: bigint
  /** The sum of the absolute amounts. The sum of any subset of the rows is at most this large. */
  size: bigint
}

/**
 * Reads an invoice file as a stream, and sums its rows by day and model. `now` is the time in Unix
 * milliseconds. Rows of a day later than tomorrow are refused. `onRequest` receives each row with a
 * request id. Only the sums, and digests of the rows with request ids, are kept in memory.
 */
export async function sumProviderInvoice(
  body: AsyncIterable<Uint8Array>,
  format: ProviderInvoiceFormat,
  now: number,
  onRequest: (request: ProviderInvoiceRequest) => void = () => {},
): Promise<ProviderInvoiceSums> {
  const hash = createHash('sha256')
  const decoder = new CsvTextDecoder()
  const sums = new RowSums(format, now, onRequest)
  let bytes = 0
  const parser = new CsvParser(format.delimiter, (fields, row) => sums.add(fields, row), LIMITS)
  try {
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > BYTES_MAX) throw providerInvoiceError('InvoiceTooLarge', { max: ROWS_MAX })
      for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
        const slice = chunk.subarray(at, at + SLICE_BYTES)
        hash.update(slice)
        parser.push(decoder.push(slice))
        await nextTurn()
      }
    }
    parser.push(decoder.end())
    parser.end()
  } catch (error) {
    if (error instanceof CsvError) throw rowError(error.row, 'csv', error.problem)
    throw error
  }
  return { digest: hash.digest('hex'), bytes, ...sums.end() }
}

/**
 * Sums the rows of an invoice. A row that has a request id and repeats an earlier row is counted as
 * a duplicate and not summed.
 */
class RowSums {
  private readonly format: ProviderInvoiceFormat
  private readonly now: number
  private readonly onRequest: (request: ProviderInvoiceRequest) => void
  private readonly exactMax: bigint
  private readonly sums = new Map<string, Sum>()
  /**
   * The digests of the rows with request ids. All columns are compared, because one request may
   * have a row for each kind of token, or a credit for an earlier row. The digests are divided
   * among many small sets, because a large set blocks the event loop each time it grows.
   */
  private readonly seen = new Map<string, Set<string>>()
  private columns: Columns | null = null
  private rows = 0
  private requests = 0
  /**
   * The sum of the absolute token counts. The sum of any subset of the rows is at most this large.
   */
  private tokensSize = 0
  private duplicates = 0
  private duplicatesAmount = 0n
  private duplicatesSize = 0n

  constructor(
    format: ProviderInvoiceFormat,
    now: number,
    onRequest: (request: ProviderInvoiceRequest) => void,
  ) {
    this.format = format
    this.now = now
    this.onRequest = onRequest
    this.exactMax = exactMaxOf(format.decimals)
  }

  add(fields: readonly string[], row: number): void {
    if (this.columns === null) {
      this.columns = columnsOf(fields, this.format)
      return
    }
    this.rows += 1
    if (this.rows > ROWS_MAX) throw providerInvoiceError('InvoiceTooLarge', { max: ROWS_MAX })
    const { requestId } = this.columns
    const id = requestId === null ? '' : shortId((fields[requestId] ?? '').trim())
    if (CONTROL.test(id)) throw rowError(row, 'request_id', 'not-an-id')
    const one = readRow(fields, row, this.columns, this.format, this.now)
    this.tokensSize += Math.abs(one.tokens)
    if (this.tokensSize > Number.MAX_SAFE_INTEGER) throw rowError(row, 'tokens', 'sum-too-large')
    if (id === '') {
      this.addRow(one, row)
      return
    }
    this.requests += 1
    const { day, model, tokens } = one
    if (this.isNew(fields)) {
      const { amount } = this.addRow(one, row)
      // The amounts of rows are rounded so that they add up to the rounded sum.
      const rounded = this.rounded(amount) - this.rounded(amount - one.amount)
      this.onRequest([row, day, model, id, tokens, rounded])
      return
    }
    this.duplicates += 1
    this.duplicatesAmount += one.amount
    this.duplicatesSize += sizeOf(one.amount)
    if (this.duplicatesSize > this.exactMax) throw rowError(row, 'amount', 'sum-too-large')
    this.onRequest([row, day, model, id, tokens, this.rounded(one.amount), true])
  }

  private addRow({ day, model, tokens, amount }: ProviderInvoiceRow, row: number): Sum {
    const key = `${day} ${model}`
    const sum = this.sums.get(key) ?? { day, model, rows: 0, tokens: 0, amount: 0n, size: 0n }
    if (sum.rows === 0) {
      if (this.sums.size === LINES_MAX)
        throw providerInvoiceError('InvoiceTooVaried', { max: LINES_MAX })
      this.sums.set(key, sum)
    }
    sum.rows += 1
    sum.tokens += tokens
    sum.amount += amount
    sum.size += sizeOf(amount)
    if (sum.size > this.exactMax) throw rowError(row, 'amount', 'sum-too-large')
    return sum
  }

  private rounded(exact: bigint): number {
    return Number(roundedAmount(exact, this.format.decimals))
  }

  private isNew(fields: readonly string[]): boolean {
    const key = digestOf('sha256', JSON.stringify(fields), 'base64')
    const start = key.slice(0, 2)
    const digests = this.seen.get(start)
    if (digests === undefined) this.seen.set(start, new Set([key]))
    else if (digests.has(key)) return false
    else digests.add(key)
    return true
  }

  end(): Omit<ProviderInvoiceSums, 'digest' | 'bytes'> {
    const { rows, requests, duplicates } = this
    const duplicatesAmount = this.rounded(this.duplicatesAmount)
    if (rows === 0) throw providerInvoiceError('InvoiceEmpty')
    const lines = [...this.sums.values()]
      .sort((one, other) => compare(one.day, other.day) || compare(one.model, other.model))
      .map(({ size, ...sum }) => ({ ...sum, amount: this.rounded(sum.amount) }))
    return {
      ...{ rows, duplicates, lines },
      ...(duplicatesAmount === 0 ? {} : { duplicatesAmount }),
      ...(requests === 0 ? {} : { requests }),
    }
  }
}

/**
 * Shortens an id that is longer than any id of a call. The result consists of the start of the id
 * and the id's SHA-256. The short id matches no call, but rows with the same id have the same short
 * id, even in different invoices.
 */
function shortId(id: string): string {
  if (id.length <= ID_LENGTH_MAX) return id
  return `${id.slice(0, ID_START_LENGTH).toWellFormed()}…${digestOf('sha256', id, 'hex')}`
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

function columnsOf(header: readonly string[], format: ProviderInvoiceFormat): Columns {
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
