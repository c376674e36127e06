import { request } from '../request.ts'

/** Deletes all of exactly this name; answers how many. */
export async function deleteByName(name: string): Promise<number> {
  const path = '/api/redemption/delete-by-name'
  return (await request<number>({ method: 'DELETE', path, query: { name } })).data
}
