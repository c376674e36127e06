import type { UpdateSelf } from '#write-api/contract/user.ts'
import { request } from '../request.ts'

/** Changes one's own name or password; a new password needs the present one. */
export async function updateSelf(change: UpdateSelf): Promise<void> {
  const renewsSession = Boolean(change.password)
  await request({ method: 'PUT', path: '/api/user/self', body: change, renewsSession })
}
