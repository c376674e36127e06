import type { PasskeyOptions, ProofOnly } from '#write-api/contract/credentials.ts'
import { showPasskey } from '../auth/passkeys.ts'
import { request } from '../request.ts'

/** Has the browser ask for one of the own passkeys, in place of the password or a code. */
export async function proveByPasskey(): Promise<ProofOnly> {
  const { data } = await request<PasskeyOptions>({
    method: 'POST',
    path: '/api/user/passkeys/proof',
  })
  return { passkey: await showPasskey(data) }
}
