import type { CreateChannel, CreatedChannels } from '#write-api/contract/channel.ts'
import { request } from '../request.ts'

/** How many channels were made (one, or one for each key), and what the server says to that. */
export async function createChannel(
  terms: CreateChannel,
): Promise<{ count: number; message: string }> {
  const call = { method: 'POST', path: '/api/channel/', body: terms } as const
  const { data, message } = await request<CreatedChannels>(call)
  return { count: data.ids.length, message }
}
