import type { ProofOnly } from '#write-api/contract/credentials.ts'
import { request } from '../request.ts'

/** For half an hour, what wants a recent login goes on in this session. */
export async function proveSession(proof: ProofOnly): Promise<void> {
  await request({ method: 'POST', path: '/api/user/proof', body: proof })
}
