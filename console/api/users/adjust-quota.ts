import type { AdjustQuota, QuotaAdjustment, QuotaAdjustments } from '#write-api/contract/user.ts'
import { request } from '../request.ts'

/** Says of each user what became of the balance. The same `request_id` changes it once. */
export async function adjustQuota(change: AdjustQuota): Promise<readonly QuotaAdjustment[]> {
  const call = { method: 'POST', path: '/api/user/quota', body: change } as const
  return (await request<QuotaAdjustments>(call)).data.items
}
