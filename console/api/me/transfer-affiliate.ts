import type { TransferAffiliate } from '#write-api/contract/user.ts'
import { request } from '../request.ts'

/** Moves quota that invitations brought to the balance. */
export async function transferAffiliate(quota: bigint): Promise<void> {
  const body: TransferAffiliate = { quota: Number(quota) }
  await request({ method: 'POST', path: '/api/user/aff_transfer', body })
}
