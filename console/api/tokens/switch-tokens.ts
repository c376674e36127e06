import { request } from '../request.ts'

/** 1 enables, 2 disables: all of them, or none. */
export async function switchTokens(ids: readonly number[], status: 1 | 2): Promise<void> {
  const [id] = ids
  if (ids.length === 1) {
    const query = { status_only: true }
    await request({ method: 'PUT', path: '/api/token/', query, body: { id, status } })
    return
  }
  await request({ method: 'POST', path: '/api/token/batch/status', body: { ids, status } })
}
