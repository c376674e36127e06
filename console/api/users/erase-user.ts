import type { EraseUser } from '#write-api/contract/user.ts'
import { request } from '../request.ts'

/** Erases the personal data of a user for good; the typed username confirms it. */
export async function eraseUser(erased: EraseUser): Promise<void> {
  await request({ method: 'POST', path: '/api/user/erase', body: erased })
}
