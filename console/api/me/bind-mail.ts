import { request } from '../request.ts'

/** Binds the address to the own account, by the code that was mailed to it. */
export async function bindMail(email: string, code: string): Promise<void> {
  await request<unknown>({ path: '/api/oauth/email/bind', query: { email, code } })
}
