import type { UpdateToken } from '#write-api/contract/token.ts'
import { request } from '../request.ts'

/** Sends the fields to change; the others stay as they are. */
export async function updateToken(change: UpdateToken): Promise<void> {
  await request({ method: 'PUT', path: '/api/token/', body: change })
}
