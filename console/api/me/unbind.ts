import type { Unbind } from '#write-api/contract/oauth.ts'
import { request } from '../request.ts'

/** Refused when nobody could come in as this user any more. */
export async function unbind(provider: Unbind['provider']): Promise<void> {
  await request({ method: 'POST', path: '/api/user/unbind', body: { provider } })
}
