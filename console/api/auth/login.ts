import type { SessionUser } from '#read-api/contract/user.ts'
import type { Login } from '#write-api/contract/setup.ts'
import { request } from '../request.ts'

/** `turnstile`: the token of the human check; empty while none is asked for. */
export async function login(credentials: Login, turnstile: string): Promise<SessionUser> {
  const { data } = await request<SessionUser>({
    method: 'POST',
    path: '/api/user/login',
    query: { turnstile },
    body: credentials,
  })
  return data
}
