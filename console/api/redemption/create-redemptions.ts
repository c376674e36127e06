import type { CreateRedemption } from '#write-api/contract/redemption.ts'
import { request } from '../request.ts'

/** One code or `count` of them, all or none; answers their keys, in order. */
export async function createRedemptions(terms: CreateRedemption): Promise<string[]> {
  const call = { method: 'POST', path: '/api/redemption/', body: terms } as const
  return (await request<string[]>(call)).data
}
