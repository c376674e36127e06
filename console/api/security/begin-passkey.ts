import type { PasskeyOptions, ProofOnly } from '#write-api/contract/credentials.ts'
import { request } from '../request.ts'

export async function beginPasskey(proof: ProofOnly): Promise<PasskeyOptions> {
  const { data } = await request<PasskeyOptions>({
    method: 'POST',
    path: '/api/user/passkeys/begin',
    body: proof,
  })
  return data
}
