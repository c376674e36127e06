import { request } from '../request.ts'

/** All that are disabled; answers how many there were. */
export async function deleteDisabled(): Promise<number> {
  const call = { method: 'DELETE', path: '/api/redemption/delete-disabled' } as const
  return (await request<number>(call)).data
}
