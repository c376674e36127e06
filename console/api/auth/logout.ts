import { request } from '../request.ts'

export async function logout(): Promise<void> {
  await request<unknown>({ path: '/api/user/logout' })
}
