import type { SetChannelsStatus } from '#write-api/contract/channel.ts'
import { request } from '../request.ts'

/** Enables (1) or disables (2) several channels, all or none. */
export async function setChannelsStatus(body: SetChannelsStatus): Promise<void> {
  await request({ method: 'POST', path: '/api/channel/batch/status', body })
}
