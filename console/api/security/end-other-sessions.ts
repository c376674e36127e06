import { request } from '../request.ts'

export async function endOtherSessions(): Promise<void> {
  await request({ method: 'DELETE', path: '/api/user/sessions' })
}
