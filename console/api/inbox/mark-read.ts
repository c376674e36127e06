import { request } from '../request.ts'

/** Once is enough, and more does no harm. */
export async function markRead(id: number): Promise<void> {
  await request({ method: 'PUT', path: `/api/user/messages/${id}/read` })
}
