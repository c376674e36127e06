const QUOTE = 34
const LINE_END = 10

/** A line break inside CSV quotes does not end a row. */
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

  /** The header of a CSV file is not counted. */
  get rows(): number {
    return Math.max(0, this.lines - (this.#hasQuotes ? 1 : 0))
  }
}
