import { request } from '../request.ts'

export async function deleteRedemption(id: number): Promise<void> {
  await request({ method: 'DELETE', path: `/api/redemption/${id}/` })
}
