import { request } from '../request.ts'

/** 1 enables, 2 disables. */
export async function switchRedemption(id: number, status: 1 | 2): Promise<void> {
  const query = { status_only: true }
  await request({ method: 'PUT', path: '/api/redemption/', query, body: { id, status } })
}
