import { queryOptions } from '@tanstack/react-query'
import type { Security } from '#read-api/contract/security.ts'
import type { PasskeyOptions, ProofOnly, TotpOffer } from '#write-api/contract/credentials.ts'
import { showPasskey } from './auth/passkeys.ts'
import { request } from './request.ts'

/** What one comes in by beside the password. */
export const securityQuery = queryOptions({
  queryKey: ['security'],
  queryFn: async ({ signal }) =>
    (await request<Security>({ path: '/api/user/security', signal })).data,
})

export async function beginTotp(proof: ProofOnly): Promise<TotpOffer> {
  const { data } = await request<TotpOffer>({
    method: 'POST',
    path: '/api/user/totp/begin',
    body: proof,
  })
  return data
}

/** Has the browser ask for one of the own passkeys, in place of the password or a code. */
export async function proveByPasskey(): Promise<ProofOnly> {
  const { data } = await request<PasskeyOptions>({
    method: 'POST',
    path: '/api/user/passkeys/proof',
  })
  return { passkey: await showPasskey(data) }
}
