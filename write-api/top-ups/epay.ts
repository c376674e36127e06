import { createHash, timingSafeEqual } from 'node:crypto'
import type { Epay } from './payment-methods.ts'

/** How the protocol calls our ways to pay. */
const TYPES = { zfb: 'alipay', wx: 'wxpay' } as const

export type EpayOrder = {
  readonly method: keyof typeof TYPES
  readonly tradeNo: string
  readonly money: string
  readonly name: string
  readonly notifyUrl: string
  readonly returnUrl: string
}

/** The signed form that a browser sends to the gateway. */
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

/** What a gateway says, its signature right. */
export type EpayNotice = {
  readonly merchant: string
  readonly tradeNo: string
  readonly paymentId: string
  readonly money: string
  readonly status: string
}

/** null unless the gateway signed it with our key, every field once. */
export function readEpayNotice(params: URLSearchParams, key: string): EpayNotice | null {
  const fields = [...params]
  const names = new Set(fields.map(([name]) => name))
  if (names.size !== fields.length) return null
  const said = (name: string): string => params.get(name) ?? ''
  if (names.has('sign_type') && said('sign_type').toUpperCase() !== 'MD5') return null
  if (!isSame(said('sign').toLowerCase(), signatureOf(fields, key))) return null
  return {
    merchant: said('pid'),
    tradeNo: said('out_trade_no'),
    paymentId: said('trade_no'),
    money: said('money'),
    status: said('trade_status'),
  }
}

/** MD5 over the fields that are not empty, by name, and the key: as the epay protocol has it. */
export function signatureOf(
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

/** NOTE: as many characters may be more bytes, which `timingSafeEqual` throws at. */
const isSame = (said: string, right: string): boolean =>
  /^[0-9a-f]{32}$/.test(said) && timingSafeEqual(Buffer.from(said), Buffer.from(right))
