/** A cell: text is guarded and quoted, numbers are written as they are. */
export type CsvCell = string | number | bigint | null

/** What makes spreadsheets in Chinese read UTF-8. */
export const BYTE_ORDER_MARK = '\uFEFF'

/** Looked for first, in one go: nearly every text is. A number is no formula, whatever its sign. */
const PLAIN = /^(?:-\d+(?:\.\d+)?|(?![=+\-@\t\r])[^",\r\n]*)$/
const FORMULA_START = /^[=+\-@\t\r]/
const NEEDS_QUOTES = /[",\r\n]/

/** One line with its end (RFC 4180). Text that a spreadsheet would run as a formula gets a `'`. */
export function csvLine(cells: readonly CsvCell[]): string {
  let line = ''
  let separator = ''
  for (const cell of cells) {
    line += separator + cellText(cell)
    separator = ','
  }
  return `${line}\r\n`
}

function cellText(cell: CsvCell): string {
  if (cell === null) return ''
  if (typeof cell !== 'string') return String(cell)
  if (PLAIN.test(cell)) return cell
  const guarded = FORMULA_START.test(cell) ? `'${cell}` : cell
  return NEEDS_QUOTES.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded
}
