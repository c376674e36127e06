import type { UpdateRedemption } from '#write-api/contract/redemption.ts'
import { request } from '../request.ts'

/** Sends the fields to change; the others stay as they are. */
export async function updateRedemption(change: UpdateRedemption): Promise<void> {
  await request({ method: 'PUT', path: '/api/redemption/', body: change })
}
