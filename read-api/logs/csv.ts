/** A cell: text is guarded and quoted, numbers are written as they are. */
export type CsvCell = string | number | bigint | null

/** What makes spreadsheets in Chinese read UTF-8. */
export const BYTE_ORDER_MARK = '\uFEFF'

const FORMULA_START = /^[=+\-@\t\r]/
const NEEDS_QUOTES = /[",\r\n]/

/** One line with its end (RFC 4180). Text that a spreadsheet would run as a formula gets a `'`. */
export const csvLine = (cells: readonly CsvCell[]): string => `${cells.map(cellText).join(',')}\r\n`

function cellText(cell: CsvCell): string {
  if (cell === null) return ''
  if (typeof cell !== 'string') return String(cell)
  const guarded = FORMULA_START.test(cell) ? `'${cell}` : cell
  return NEEDS_QUOTES.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded
}
