import { queryOptions } from '@tanstack/react-query'
import type { CredentialsOverview } from '#read-api/contract/credentials.ts'
import type { PasskeyOptions, ProofOnly, TotpOffer } from '#write-api/contract/credentials.ts'
import { showPasskey } from './auth/passkeys.ts'
import { fetchData } from './request.ts'

/** What one comes in by beside the password. */
export const securityQuery = queryOptions({
  queryKey: ['security'],
  queryFn: ({ signal }) => fetchData<CredentialsOverview>({ path: '/api/user/security', signal }),
})

export const beginTotp = (proof: ProofOnly): Promise<TotpOffer> =>
  fetchData({
    method: 'POST',
    path: '/api/user/totp/begin',
    body: proof,
  })

/** Has the browser ask for one of the own passkeys, in place of the password or a code. */
export async function proveByPasskey(): Promise<ProofOnly> {
  const data = await fetchData<PasskeyOptions>({
    method: 'POST',
    path: '/api/user/passkeys/proof',
  })
  return { passkey: await showPasskey(data) }
}
