import { providerInvoiceError } from './audit-errors.ts'

const QUOTE = '"'
const [LF, CR, QUOTE_CODE] = [10, 13, 34]

type CsvLimits = { readonly columnsMax: number; readonly fieldMax: number }

/** A problem of a CSV file. `row` is the number of the row, starting at 1. */
export class CsvError extends Error {
  readonly row: number
  readonly problem: 'unclosed-quote' | 'field-too-long' | 'too-many-columns'
  constructor(problem: CsvError['problem'], row: number) {
    super(`row ${row}: ${problem}`)
    this.name = 'CsvError'
    this.problem = problem
    this.row = row
  }
}

type OnRow = (fields: readonly string[], row: number) => void

/**
 * Parses CSV (RFC 4180) and passes each row to `onRow`. The text can be added in pieces of any
 * size. Rows may end with CRLF, LF or CR. A byte order mark and empty lines are skipped. Only one
 * row is in memory at a time.
 */
export class CsvParser {
  private readonly delimiter: number
  private readonly onRow: OnRow
  private readonly limits: CsvLimits
  private fields: string[] = []
  private field = ''
  private row = 1
  private state: 'start' | 'plain' | 'quoted' | 'after-quote' = 'start'
  private isFirst = true
  private wasReturn = false

  constructor(delimiter: string, onRow: OnRow, limits: CsvLimits) {
    this.delimiter = delimiter.charCodeAt(0)
    this.onRow = onRow
    this.limits = limits
  }

  push(text: string): void {
    let at = this.isFirst && text.startsWith('\ufeff') ? 1 : 0
    if (text !== '') this.isFirst = false
    while (at < text.length) {
      const end = this.endOfText(text, at)
      if (end > at) {
        this.add(text.slice(at, end))
        this.wasReturn = false
      }
      if (end < text.length) this.take(text.charCodeAt(end))
      at = end + 1
    }
  }

  end(): void {
    if (this.state === 'quoted') throw new CsvError('unclosed-quote', this.row)
    if (this.fields.length > 0 || this.field !== '') this.endRow()
  }

  /**
   * Returns the index of the next special character. The text before it belongs to the current
   * field.
   */
  private endOfText(text: string, at: number): number {
    if (this.state === 'after-quote') return at
    if (this.state === 'quoted') {
      const quote = text.indexOf(QUOTE, at)
      return quote < 0 ? text.length : quote
    }
    let end = at
    while (end < text.length && !this.isSpecial(text.charCodeAt(end))) {
      this.state = 'plain'
      end += 1
    }
    return end
  }

  private isSpecial(code: number): boolean {
    if (code === this.delimiter || code === LF || code === CR) return true
    return code === QUOTE_CODE && this.state !== 'plain'
  }

  private take(code: number): void {
    const isAfterReturn = this.wasReturn
    this.wasReturn = code === CR && this.state !== 'quoted'
    if (this.state === 'quoted') this.state = 'after-quote'
    else if (code === this.delimiter) this.endField()
    else if (code === CR) this.endRow()
    else if (code === LF) {
      if (!isAfterReturn) this.endRow()
    } else if (code === QUOTE_CODE) {
      if (this.state === 'after-quote') this.add(QUOTE)
      this.state = 'quoted'
    } else {
      this.add(String.fromCharCode(code))
      this.state = 'plain'
    }
  }

  private add(text: string): void {
    if (this.field.length + text.length > this.limits.fieldMax) {
      throw new CsvError('field-too-long', this.row)
    }
    this.field += text
  }

  private endField(): void {
    if (this.fields.length === this.limits.columnsMax) {
      throw new CsvError('too-many-columns', this.row)
    }
    this.fields.push(this.field)
    this.field = ''
    this.state = 'start'
  }

  private endRow(): void {
    this.endField()
    if (this.fields.length > 1 || this.fields[0] !== '') this.onRow(this.fields, this.row)
    this.fields = []
    this.row += 1
  }
}

/**
 * Decodes the text of a CSV file in pieces of any size: UTF-8, or UTF-16 if the file starts with
 * the byte order mark of UTF-16. Throws `InvoiceNotUtf8` for any other encoding. Without this
 * error, wrong names of models and wrong ids of requests would go unnoticed.
 */
export class CsvTextDecoder {
  private decoder: TextDecoder | null = null
  /** The first bytes of the file, until the byte order mark is complete. */
  private start = Buffer.alloc(0)

  push(bytes: Uint8Array): string {
    if (this.decoder !== null) return this.decode(this.decoder, bytes)
    this.start = Buffer.concat([this.start, bytes])
    return this.start.length < 2 ? '' : this.decodeStart()
  }

  end(): string {
    const start = this.decoder === null ? this.decodeStart() : ''
    return start + (this.decoder === null ? '' : this.decode(this.decoder))
  }

  private decodeStart(): string {
    this.decoder = new TextDecoder(encodingOf(this.start), { fatal: true })
    return this.decode(this.decoder, this.start)
  }

  private decode(decoder: TextDecoder, bytes?: Uint8Array): string {
    try {
      return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true })
    } catch {
      throw providerInvoiceError('InvoiceNotUtf8')
    }
  }
}

function encodingOf(start: Buffer): 'utf-8' | 'utf-16le' | 'utf-16be' {
  const [first, second] = start
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  // UTF-16 without a byte order mark would be valid UTF-8 with NUL characters.
  if (first === 0 || second === 0) throw providerInvoiceError('InvoiceNotUtf8')
  return 'utf-8'
}
