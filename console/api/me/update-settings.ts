import type { UpdateSettings } from '#write-api/contract/user.ts'
import { request } from '../request.ts'

/** Changes one's own settings; what is left out stays. */
export async function updateSettings(change: UpdateSettings): Promise<void> {
  await request({ method: 'PUT', path: '/api/user/setting', body: change })
}
