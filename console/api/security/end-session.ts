import { request } from '../request.ts'

export async function endSession(id: number): Promise<void> {
  await request({ method: 'DELETE', path: `/api/user/sessions/${id}` })
}
