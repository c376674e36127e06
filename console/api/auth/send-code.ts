import { request } from '../request.ts'

/** Mails a code to the address, for a new account or for the own one. */
export async function sendCode(
  email: string,
  purpose: 'register' | 'bind',
  turnstile: string,
): Promise<void> {
  await request<unknown>({ path: '/api/verification', query: { email, purpose, turnstile } })
}
