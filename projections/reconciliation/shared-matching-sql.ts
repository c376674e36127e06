import { sql } from 'slonik'
import Type from 'typebox'
import { converted, nullable, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import type { RequestMatch } from '#read-api/contract/provider-invoices.ts'

export type LineMatch = Exclude<RequestMatch, 'only_ours'>

/**
 * An invoice with its channel and its period. `firstDay` and `lastDay` are the Unix seconds at
 * which the first and the last day start.
 */
export type MatchedProviderInvoice = {
  readonly invoiceId: string
  readonly channelId: number
  readonly firstDay: number
  readonly lastDay: number
  /** The price of one unit of the invoice's currency in dollars, as a decimal. */
  readonly dollars: string
  /**
   * The number of decimals of an amount. Amounts are integers, in units of 10^-`decimals` of the
   * currency.
   */
  readonly decimals: number
  readonly hasTokens: boolean
}

export const DAY = 86_400
/**
 * The time in seconds before and after the days of an invoice in which calls are searched for the
 * invoice's request ids.
 */
const SEARCHED_SECONDS = 62 * DAY

export type Fragment = ReturnType<typeof sql.fragment>

/**
 * Limits a number to the largest integer that a response can contain. Only invoices that an earlier
 * release has imported can have larger numbers.
 */
export const wireSized = (number: Fragment): Fragment =>
  sql.fragment`greatest(-9007199254740991, least(9007199254740991, ${number}))::int8`

/**
 * The SQL condition that an attempt `r` ended within `SEARCHED_SECONDS` of the days of an invoice.
 */
export const isNearDays = ({ firstDay, lastDay }: MatchedProviderInvoice) => sql.fragment`
  r.created_at >= ${firstDay - SEARCHED_SECONDS}
    and r.created_at < ${lastDay + DAY + SEARCHED_SECONDS}`

/** The factor of the upper four bytes of an integer of eight bytes. */
export const HIGH_FACTOR = 2 ** 32

/** Big-endian integers of eight bytes in base64, as numbers. */
export const wireIntegers = converted(Type.String(), (text) => {
  const bytes = Buffer.from(text, 'base64')
  return Float64Array.from({ length: bytes.length / 8 }, (_, index) => {
    const at = index * 8
    return bytes.readUInt32BE(at) * HIGH_FACTOR + bytes.readUInt32BE(at + 4)
  })
})

/** Encodes bytes for `wireIntegers`. A list of half a million integers takes a few milliseconds. */
export const integersOf = (bytes: Fragment) =>
  sql.fragment`encode(coalesce(${bytes}, ''), 'base64')`

export const requestMatch = rowType({
  /**
   * For a line of the invoice, the number of the row in the file. For a call that is not in the
   * invoice, the position of the call's final event.
   */
  place: wireInteger,
  rows: wireInteger,
  upstreamId: Type.String(),
  day: Type.String(),
  model: Type.String(),
  tokens: wireInteger,
  amount: Type.BigInt(),
  billed: wireInteger,
  call: nullable(Type.String()),
  userId: nullable(wireInteger),
  endedAt: nullable(wireInteger),
  callModel: nullable(Type.String()),
  callTokens: nullable(wireInteger),
  cost: nullable(wireInteger),
  charged: nullable(wireInteger),
})
export type RequestMatchRow = RowOf<typeof requestMatch>
