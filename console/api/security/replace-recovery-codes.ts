import type { ProofOnly, RecoveryCodes } from '#write-api/contract/credentials.ts'
import { request } from '../request.ts'

export async function replaceRecoveryCodes(proof: ProofOnly): Promise<string[]> {
  const { data } = await request<RecoveryCodes>({
    method: 'POST',
    path: '/api/user/recovery_codes',
    body: proof,
  })
  return data.recovery_codes
}
