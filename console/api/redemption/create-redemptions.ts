import type { CreateRedemption } from '#write-api/contract/redemption.ts'
import { request } from '../request.ts'

/**
 * One code or `count` of them, all or none; answers their keys, in order. Once for an
 * `idempotencyKey`: where the answer got lost, the same ones again.
 */
export async function createRedemptions(
  terms: CreateRedemption,
  idempotencyKey: string,
): Promise<string[]> {
  const call = { method: 'POST', path: '/api/redemption/', body: terms, idempotencyKey } as const
  return (await request<string[]>(call)).data
}
