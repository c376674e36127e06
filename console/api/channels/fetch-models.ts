import type { FetchModels } from '#write-api/contract/channel-act.ts'
import { request } from '../request.ts'

/** The models that a channel's provider lists, asked with the stored key at the stored address. */
export async function fetchStoredModels(id: number): Promise<string[]> {
  return (await request<string[]>({ path: `/api/channel/fetch_models/${id}` })).data
}

/** The same of an address and a key that are not stored (yet). */
export async function fetchModels(body: FetchModels): Promise<string[]> {
  const call = { method: 'POST', path: '/api/channel/fetch_models', body } as const
  return (await request<string[]>(call)).data
}
