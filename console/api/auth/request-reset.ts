import { request } from '../request.ts'

/** Mails a link to the owner of the address; the answer does not tell whether there is one. */
export async function requestReset(email: string, turnstile: string): Promise<void> {
  await request<unknown>({ path: '/api/reset_password', query: { email, turnstile } })
}
