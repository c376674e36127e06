import type { UpdateChannel } from '#write-api/contract/channel.ts'
import { request } from '../request.ts'

/** Sends the fields to change; status 1 enables, 2 disables. Answers what the server says to it. */
export async function updateChannel(change: UpdateChannel): Promise<string> {
  return (await request({ method: 'PUT', path: '/api/channel/', body: change })).message
}
