import { request } from '../request.ts'

/** Closes every circuit of a channel in all relays; answers how many were open or half open. */
export const closeCircuits = async (channelId: number): Promise<number> =>
  (await request<number>({ method: 'POST', path: `/api/channel/${channelId}/circuit/close` })).data
