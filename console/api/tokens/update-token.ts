import type { UpdateToken } from '#write-api/contract/token.ts'
import { request } from '../request.ts'

/** Sends the fields to change; the others stay as they are. */
export async function updateToken(change: UpdateToken): Promise<void> {
  await request({ method: 'PUT', path: '/api/token/', body: change })
}

/** 1 enables, 2 disables. */
export async function changeTokenStatus(id: number, status: 1 | 2): Promise<void> {
  const query = { status_only: true }
  await request({ method: 'PUT', path: '/api/token/', query, body: { id, status } })
}
