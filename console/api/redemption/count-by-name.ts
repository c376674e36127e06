import { request } from '../request.ts'

/** How many codes have exactly this name. */
export async function countByName(name: string): Promise<number> {
  const path = '/api/redemption/count-by-name'
  return (await request<number>({ path, query: { name } })).data
}
