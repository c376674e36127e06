import { request } from '../request.ts'

export async function deleteToken(id: number): Promise<void> {
  await request({ method: 'DELETE', path: `/api/token/${id}/` })
}
