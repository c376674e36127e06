import type { SessionUser } from '#read-api/contract/user.ts'
import type { PasskeyOptions } from '#write-api/contract/credentials.ts'
import { request } from '../request.ts'
import { showPasskey } from './passkeys.ts'

/** Has the browser ask for any passkey of this site, and logs in with it. */
export async function passkeyLogin(): Promise<SessionUser> {
  const begun = await request<PasskeyOptions>({
    method: 'POST',
    path: '/api/user/login/passkey/begin',
  })
  const { data } = await request<SessionUser>({
    method: 'POST',
    path: '/api/user/login/passkey',
    body: { passkey: await showPasskey(begun.data) },
  })
  return data
}
