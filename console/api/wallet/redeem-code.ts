import type { Redeemed } from '#write-api/contract/redemption.ts'
import { request } from '../request.ts'

/** Turns a code into quota of one's own; answers what it gave. */
export async function redeemCode(key: string): Promise<Redeemed> {
  const call = { method: 'POST', path: '/api/user/topup', body: { key } } as const
  return (await request<Redeemed>(call)).data
}
