import type { SessionUser } from '#read-api/contract/user.ts'
import type { Setup } from '#write-api/contract/setup.ts'
import { request } from '../request.ts'

/**
 * Creates the root account and picks the mode; refused once that has been done. Answers the user
 * that this browser is signed in as from then on; null where it has to sign in.
 */
export async function setUp(setup: Setup): Promise<SessionUser | null> {
  const { data } = await request<SessionUser | null>({
    method: 'POST',
    path: '/api/setup',
    body: setup,
  })
  return data
}
