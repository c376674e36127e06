import type { ProofOnly } from '#write-api/contract/credentials.ts'
import { request } from '../request.ts'

export async function removePasskey(id: number, proof: ProofOnly): Promise<void> {
  await request({ method: 'POST', path: '/api/user/passkeys/remove', body: { id, ...proof } })
}
