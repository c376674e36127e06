import { request } from '../request.ts'

/** Makes the list of who serves what anew, from the channels as they are. */
export async function fixAbilities(): Promise<void> {
  await request({ method: 'POST', path: '/api/channel/fix' })
}
