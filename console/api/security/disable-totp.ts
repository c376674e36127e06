import type { ProofOnly } from '#write-api/contract/credentials.ts'
import { request } from '../request.ts'

export async function disableTotp(proof: ProofOnly): Promise<void> {
  await request({ method: 'POST', path: '/api/user/totp/disable', body: proof })
}
