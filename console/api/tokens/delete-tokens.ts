import { request } from '../request.ts'

/** All of them, or none. */
export async function deleteTokens(ids: readonly number[]): Promise<void> {
  const [id] = ids
  if (ids.length === 1) await request({ method: 'DELETE', path: `/api/token/${id}/` })
  else await request({ method: 'POST', path: '/api/token/batch', body: { ids } })
}
