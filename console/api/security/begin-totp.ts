import type { ProofOnly, TotpOffer } from '#write-api/contract/credentials.ts'
import { request } from '../request.ts'

export async function beginTotp(proof: ProofOnly): Promise<TotpOffer> {
  const { data } = await request<TotpOffer>({
    method: 'POST',
    path: '/api/user/totp/begin',
    body: proof,
  })
  return data
}
