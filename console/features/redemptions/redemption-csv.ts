import { saveFile } from '#console/ui/browser/save-file.ts'
import type { Redemption } from '#read-api/contract/redemptions.ts'

const COLUMNS = [
  'key',
  'name',
  'quota',
  'is_gift',
  'max_uses',
  'valid_from',
  'valid_until',
] as const

export type CsvRedemption = Pick<Redemption, (typeof COLUMNS)[number]>

/**
 * The byte order mark at the start of the file. Without this mark, spreadsheet programs do not
 * recognize UTF-8.
 */
const BYTE_ORDER_MARK = '\uFEFF'
const FORMULA_START = /^[=+\-@\t\r]/

/** Returns the codes as CSV (RFC 4180) with a byte order mark and a header line. */
function redemptionsCsv(redemptions: readonly CsvRedemption[]): string {
  const lines = redemptions.map((redemption) => [
    guarded(redemption.key),
    guarded(redemption.name),
    redemption.quota,
    redemption.is_gift,
    redemption.max_uses,
    isoOf(redemption.valid_from),
    isoOf(redemption.valid_until),
  ])
  const text = [COLUMNS, ...lines].map((cells) => `${cells.map(quoted).join(',')}\r\n`)
  return BYTE_ORDER_MARK + text.join('')
}

/**
 * Prepends `'` to a text that looks like a formula. Otherwise, a spreadsheet program would run the
 * formula.
 */
const guarded = (text: string): string => (FORMULA_START.test(text) ? `'${text}` : text)

function quoted(cell: string | number | boolean): string {
  const text = String(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const isoOf = (seconds: number): string =>
  seconds > 0 ? new Date(seconds * 1000).toISOString() : ''

export function saveCsv(redemptions: readonly CsvRedemption[]): void {
  const file = new Blob([redemptionsCsv(redemptions)], { type: 'text/csv' })
  saveFile(file, `redemption-codes-${new Date().toISOString().slice(0, 10)}.csv`)
}
