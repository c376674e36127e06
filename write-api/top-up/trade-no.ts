import { randomBytes } from 'node:crypto'

const FORM = /^T([1-9]\d{0,14})X[0-9A-F]{24}$/

/** What a provider calls the order by: its id, and what nobody can guess. */
export const newTradeNo = (orderId: number): string =>
  `T${orderId}X${randomBytes(12).toString('hex').toUpperCase()}`

/** null for what is no trade number of ours. */
export function orderIdOf(tradeNo: string): number | null {
  const [, id] = FORM.exec(tradeNo) ?? []
  return id === undefined ? null : Number(id)
}
