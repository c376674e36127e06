import { request } from '../request.ts'

export type CodePurpose = 'register' | 'bind' | 'notify'

/** Mails a code to the address, for a new account or for the own one. */
export async function sendCode(
  email: string,
  purpose: CodePurpose,
  turnstile: string,
): Promise<void> {
  await request<unknown>({ path: '/api/verification', query: { email, purpose, turnstile } })
}
