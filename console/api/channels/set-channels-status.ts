import type { SetChannelsStatus } from '#write-api/contract/channel.ts'
import { request } from '../request.ts'

/** Enables (1) or disables (2) several channels, all or none; answers how many changed. */
export async function setChannelsStatus(body: SetChannelsStatus): Promise<number> {
  const path = '/api/channel/batch/status'
  return (await request<number>({ method: 'POST', path, body })).data
}
