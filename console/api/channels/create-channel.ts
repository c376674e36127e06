import type { CreateChannel } from '#write-api/contract/channel.ts'
import { request } from '../request.ts'

export async function createChannel(terms: CreateChannel): Promise<void> {
  await request({ method: 'POST', path: '/api/channel/', body: terms })
}
