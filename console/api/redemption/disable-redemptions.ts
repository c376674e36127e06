import { request } from '../request.ts'

/** The unused ones among them; answers how many. */
export async function disableRedemptions(ids: readonly number[]): Promise<number> {
  const call = { method: 'PUT', path: '/api/redemption/batch-disable', body: { ids } } as const
  return (await request<number>(call)).data
}
