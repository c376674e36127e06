import { createHash, timingSafeEqual } from 'node:crypto'
import type { Epay } from './configured-payment-methods.ts'

/** The names of the payment methods (Alipay and WeChat Pay) in the Epay protocol. */
const TYPES = { zfb: 'alipay', wx: 'wxpay' } as const

export type EpayOrder = {
  readonly method: keyof typeof TYPES
  readonly tradeNo: string
  readonly money: string
  readonly name: string
  readonly notifyUrl: string
  readonly returnUrl: string
}

/** Returns the signed fields of the form that the browser submits to the gateway. */
export function epayForm({ merchant, key }: Epay, order: EpayOrder): Record<string, string> {
  const fields = {
    pid: merchant,
    type: TYPES[order.method],
    out_trade_no: order.tradeNo,
    notify_url: order.notifyUrl,
    return_url: order.returnUrl,
    name: order.name,
    money: order.money,
  }
  return { ...fields, sign: signatureOf(Object.entries(fields), key), sign_type: 'MD5' }
}

/** A notification from the gateway with a valid signature. */
export type EpayNotification = {
  readonly merchant: string
  readonly tradeNo: string
  readonly paymentId: string
  readonly money: string
  readonly status: string
}

/** Parses a notification. Returns null if the signature is invalid or a field occurs twice. */
export function readEpayNotification(
  params: URLSearchParams,
  key: string,
): EpayNotification | null {
  const fields = [...params]
  const names = new Set(fields.map(([name]) => name))
  if (names.size !== fields.length) return null
  const field = (name: string): string => params.get(name) ?? ''
  if (names.has('sign_type') && field('sign_type').toUpperCase() !== 'MD5') return null
  if (!isSame(field('sign').toLowerCase(), signatureOf(fields, key))) return null
  return {
    merchant: field('pid'),
    tradeNo: field('out_trade_no'),
    paymentId: field('trade_no'),
    money: field('money'),
    status: field('trade_status'),
  }
}

/**
 * Returns the signature of the Epay protocol: the MD5 hash of a text. The text contains the
 * non-empty fields except `sign` and `sign_type`, sorted by name, and then the key.
 */
function signatureOf(
  fields: readonly (readonly [name: string, value: string])[],
  key: string,
): string {
  const text = fields
    .filter(([name, value]) => name !== 'sign' && name !== 'sign_type' && value !== '')
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
  return createHash('md5').update(`${text}${key}`).digest('hex')
}

/**
 * Compares two signatures in constant time. NOTE: `timingSafeEqual` throws for texts of different
 * lengths, so the regular expression ensures that the lengths are equal.
 */
const isSame = (actual: string, expected: string): boolean =>
  /^[0-9a-f]{32}$/.test(actual) && timingSafeEqual(Buffer.from(actual), Buffer.from(expected))
