import type { PasskeyOptions, PasskeyShown } from '#write-api/contract/credentials.ts'
import { request } from '../request.ts'
import { showPasskey } from './passkeys.ts'

/** Has the browser ask for one of the user's passkeys, as the second step of this login. */
export async function secondPasskey(ticket: string): Promise<PasskeyShown> {
  const { data } = await request<PasskeyOptions>({
    method: 'POST',
    path: '/api/user/login/second/begin',
    body: { ticket },
  })
  return showPasskey(data)
}
