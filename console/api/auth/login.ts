import type { SessionUser } from '#read-api/contract/user.ts'
import type { Login } from '#write-api/contract/setup.ts'
import { request } from '../request.ts'

export async function login(credentials: Login): Promise<SessionUser> {
  const { data } = await request<SessionUser>({
    method: 'POST',
    path: '/api/user/login',
    body: credentials,
  })
  return data
}
