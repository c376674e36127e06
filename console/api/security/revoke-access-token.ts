import { request } from '../request.ts'

export async function revokeAccessToken(): Promise<void> {
  await request({ method: 'DELETE', path: '/api/user/token' })
}
