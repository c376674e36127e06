import type { SessionUser } from '#read-api/contract/user.ts'
import type { SecondStep } from '#write-api/contract/credentials.ts'
import { request } from '../request.ts'

/** The second step of a login, by a code or a passkey. */
export async function secondStep(body: SecondStep): Promise<SessionUser> {
  const { data } = await request<SessionUser>({
    method: 'POST',
    path: '/api/user/login/second',
    body,
  })
  return data
}
