import type { UpdateUser } from '#write-api/contract/user.ts'
import { request } from '../request.ts'

/** Sends the fields to change; the others stay as they are. For admins. */
export async function updateUser(change: UpdateUser): Promise<void> {
  await request({ method: 'PUT', path: '/api/user/', body: change })
}
