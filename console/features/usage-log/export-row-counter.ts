const QUOTE = 34
const LINE_END = 10

/**
 * Counts the rows of a CSV or NDJSON file while the file is downloaded. In CSV, a line break inside
 * quotes does not end a row.
 */
export class ExportRowCounter {
  lines = 0
  readonly #hasQuotes: boolean
  #isQuoted = false

  constructor(kind: 'csv' | 'ndjson') {
    this.#hasQuotes = kind === 'csv'
  }

  add(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (byte === LINE_END && !this.#isQuoted) this.lines += 1
      else if (byte === QUOTE && this.#hasQuotes) this.#isQuoted = !this.#isQuoted
    }
  }

  get rows(): number {
    return Math.max(0, this.lines - (this.#hasQuotes ? 1 : 0))
  }
}
