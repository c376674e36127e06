import { roundedQuotient, sizeOf } from '#domain/provider-invoices/amounts.ts'
import { dayOf } from '#domain/shared/utc-time.ts'
import type { HttpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { providerInvoiceError, type RowProblem } from './audit-errors.ts'

/** The format of an invoice file: the names of its columns, the delimiter and the decimal point. */
export type ProviderInvoiceFormat = {
  readonly day: string
  readonly model: string
  readonly amount: string
  readonly tokens: string | null
  readonly requestId: string | null
  readonly delimiter: string
  readonly decimal: '.' | ','
  readonly currency: string
  /** The number of decimals to which amounts are rounded. */
  readonly decimals: number
  /** Maps the provider's names of models to the names on this site. */
  readonly models: ReadonlyMap<string, string>
}

export type Columns = Readonly<Record<'day' | 'model' | 'amount', number>> &
  Readonly<Record<'tokens' | 'requestId', number | null>>

export type ProviderInvoiceRow = {
  readonly day: string
  readonly model: string
  readonly tokens: number
  /** The exact amount: an integer with `EXACT_SCALE` decimals. */
  readonly amount: bigint
}

const MODEL_LENGTH_MAX = 200
/**
 * Matches control characters. Names with such a character are rejected: Postgres can't store a NUL,
 * and the other control characters can only be a mistake.
 */
export const CONTROL = /\p{Cc}/u

/**
 * Reads a row of an invoice file. `row` is the number of the row in the file, and `now` is the time
 * in Unix milliseconds. Throws an HTTP error if the row is a total or a cell is invalid.
 */
export function readRow(
  fields: readonly string[],
  row: number,
  columns: Columns,
  { decimal, currency, decimals, models }: ProviderInvoiceFormat,
  now: number,
): ProviderInvoiceRow {
  const text = (at: number) => (fields[at] ?? '').trim()
  const day = utcDayOf(text(columns.day))
  if (day === null) {
    if (TOTAL.test(firstOf(fields))) throw providerInvoiceError('InvoiceTotalRow', { row })
    throw rowError(row, 'day', 'not-a-day')
  }
  const name = text(columns.model)
  const isTotal = TOTAL_CELL.test(firstOf(fields)) || TOTAL_CELL.test(name)
  if (isTotal && !models.has(name)) throw providerInvoiceError('InvoiceTotalRow', { row })
  if (day < EARLIEST_DAY || day > dayOf(now + DAY_MS)) throw rowError(row, 'day', 'implausible-day')
  const model = models.get(name) ?? name
  const isName = model !== '' && model.length <= MODEL_LENGTH_MAX && !CONTROL.test(model)
  if (!isName) throw rowError(row, 'model', 'not-a-name')
  const amount = exactAmountOf(text(columns.amount), decimal)
  if (amount === null) throw rowError(row, 'amount', 'not-a-number')
  if (sizeOf(amount) > exactMaxOf(decimals)) throw rowError(row, 'amount', 'too-large')
  if (isOtherCurrency(text(columns.amount), currency)) {
    throw rowError(row, 'amount', 'other-currency')
  }
  const count = (columns.tokens === null ? '' : text(columns.tokens)) || '0'
  if (!/^[+-]?\d{1,15}$/.test(count)) throw rowError(row, 'tokens', 'not-an-integer')
  return { day, model, tokens: Number(count), amount }
}

export const rowError = (row: number, column: string, problem: RowProblem): HttpError =>
  providerInvoiceError('InvoiceRowInvalid', { row, column, problem })

const TOTAL =
  /^(?:(?:grand|sub)[ -]?)?(?:totals?|sum|summary|合计|总计|小计|总和|总额|汇总)(?![a-z])/i

/**
 * Matches a cell that only says that the row is a total. Such a row may have a day, for example the
 * last day of the month. A row of a model with such a name is accepted only if the name is a key of
 * `models`.
 */
const TOTAL_CELL = new RegExp(
  `${TOTAL.source}(?: ?[(（].*[)）])? ?[:：]?$|^(?:all(?: models)?|全部|(?:全部|所有)模型)$`,
  'i',
)

const firstOf = (fields: readonly string[]): string =>
  fields.find((field) => field.trim() !== '')?.trim() ?? ''

/** The earliest valid day in an invoice. No provider sold calls before this day. */
const EARLIEST_DAY = '2020-01-01'
const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

const TIME = new RegExp(
  String.raw`^(\d{4}-\d{2}-\d{2})` +
    String.raw`(?:[T ]+(\d{1,2}):(\d{2})(?::\d{2}(?:[.,]\d{1,9})?)? ?` +
    String.raw`(?:Z|UTC|GMT|([+-])(\d{2})(?::?(\d{2}))?(?: [A-Z]{2,5})?)?)?$`,
)

/**
 * Returns the UTC day of `2026-11-28` or of a time such as `2026-11-28T23:30:00-08:00`. A time
 * without a zone is in UTC. Returns null for other text, and for a day or a time that does not
 * exist.
 */
export function utcDayOf(text: string): string | null {
  const [, day = '', hour = '0', minute = '0', sign, zoneHour = '0', zoneMinute = '0'] =
    TIME.exec(text) ?? []
  const start = Date.parse(`${day}T00:00:00Z`)
  if (Number.isNaN(start) || dayOf(start) !== day) return null
  if (Number(hour) > 23 || Number(minute) > 59 || Number(zoneHour) > 14) return null
  const offset = (sign === '-' ? -1 : 1) * (Number(zoneHour) * 60 + Number(zoneMinute))
  const utc = dayOf(start + (Number(hour) * 60 + Number(minute) - offset) * MINUTE_MS)
  // The zone may move the day to the year -1 or 10000, which have another form.
  return /^\d{4}-/.test(utc) ? utc : null
}

/** Exact amounts are integers with this number of decimals. */
const EXACT_SCALE = 30
const unitOf = (decimals: number): bigint => 10n ** BigInt(EXACT_SCALE - decimals)

/**
 * Returns the largest exact amount that is a safe integer after it is rounded to `decimals`
 * decimals: 9 million with 9 decimals, 90 billion with 5 decimals.
 */
export const exactMaxOf = (decimals: number): bigint =>
  BigInt(Number.MAX_SAFE_INTEGER) * unitOf(decimals)

const AMOUNT_LENGTH_MAX = 64
/**
 * Matches an optional plus or minus sign and an optional currency sign in either order, such as
 * `-$` or `$-`.
 */
const SIGNS = /^([+-]?)(?:(\p{Sc}) ?)?([+-]?)/u
const DIGITS = /^(\d{1,12})(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/
/**
 * Matches digits in groups of three. A number with one comma and no fraction, such as `1,234`, is
 * not matched, because the comma could be a decimal point.
 */
const GROUPS = /^\d{1,3}(?:(?:,\d{3})+\.\d+|(?:,\d{3}){2,})$/

/**
 * Parses an amount and returns it with `EXACT_SCALE` decimals. Accepts an exponent, a leading
 * currency sign and unambiguous groups of thousands. Returns null for other text and for too many
 * digits. A text that starts with `=`, as a formula does, is not an amount.
 */
export function exactAmountOf(text: string, decimal: '.' | ','): bigint | null {
  if (text.length > AMOUNT_LENGTH_MAX) return null
  const [signs = '', before = '', , after = ''] = SIGNS.exec(text) ?? []
  if (before !== '' && after !== '') return null
  const swapped =
    decimal === '.' ? text : text.replace(/[.,]/g, (mark) => (mark === '.' ? ',' : '.'))
  const number = swapped.slice(signs.length)
  const plain = GROUPS.test(number) ? number.replaceAll(',', '') : number
  const [, whole, fraction = '', exponent = '0'] = DIGITS.exec(plain) ?? []
  if (whole === undefined) return null
  const digits = (whole + fraction).replace(/0+$/, '')
  if (digits === '') return 0n
  const zeros = whole.length + Number(exponent) - digits.length + EXACT_SCALE
  // The number of zeros is checked first, because a large power of ten would exhaust the memory.
  if (zeros < 0 || zeros > 2 * EXACT_SCALE) return null
  const size = BigInt(digits) * 10n ** BigInt(zeros)
  return before === '-' || after === '-' ? -size : size
}

/** Rounds an exact amount to an integer with `decimals` decimals, half away from zero. */
export const roundedAmount = (exact: bigint, decimals: number): bigint =>
  roundedQuotient(exact, unitOf(decimals))

const CURRENCY_SIGNS: ReadonlyMap<string, string> = new Map([
  ...([
    ['USD', '$'],
    ['EUR', '€'],
    ['GBP', '£'],
    ['CNY', '¥￥'],
    ['JPY', '¥￥'],
  ] as const),
  ...([
    ['INR', '₹'],
    ['KRW', '₩￦'],
    ['VND', '₫'],
  ] as const),
])

/** Reports whether an amount has a currency sign that does not belong to the invoice's currency. */
function isOtherCurrency(text: string, currency: string): boolean {
  const sign = /\p{Sc}/u.exec(text)?.[0]
  const signs = CURRENCY_SIGNS.get(currency)
  return sign !== undefined && signs !== undefined && !signs.includes(sign)
}
