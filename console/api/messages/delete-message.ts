import { request } from '../request.ts'

/** For good: out of every inbox too. */
export async function deleteMessage(id: number): Promise<void> {
  await request({ method: 'DELETE', path: `/api/admin/messages/${id}` })
}
