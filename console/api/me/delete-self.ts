import { request } from '../request.ts'

/** Deletes one's own account; every session of it is over. */
export async function deleteSelf(): Promise<void> {
  await request({ method: 'DELETE', path: '/api/user/self' })
}
