import type { Entered } from '#write-api/contract/session.ts'
import type { Login } from '#write-api/contract/setup.ts'
import { request } from '../request.ts'

/** `turnstile`: the token of the human check; empty while none is asked for. */
export async function login(credentials: Login, turnstile: string): Promise<Entered> {
  const { data } = await request<Entered>({
    method: 'POST',
    path: '/api/user/login',
    query: { turnstile },
    body: credentials,
  })
  return data
}
