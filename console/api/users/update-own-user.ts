import type { UpdateSelf } from '#write-api/contract/user.ts'
import { request } from '../request.ts'

/** The own display name, or password together with the current one. */
export async function updateOwnUser(change: UpdateSelf): Promise<void> {
  await request({ method: 'PUT', path: '/api/user/self', body: change })
}
