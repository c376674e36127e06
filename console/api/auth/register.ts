import type { Register } from '#write-api/contract/entry.ts'
import { request } from '../request.ts'

/** `turnstile`: the token of the human check; empty while none is asked for. */
export async function register(account: Register, turnstile: string): Promise<void> {
  await request<unknown>({
    method: 'POST',
    path: '/api/user/register',
    query: { turnstile },
    body: account,
  })
}
