import type { CreatedMessage, CreateMessage } from '#write-api/contract/message.ts'
import { request } from '../request.ts'

/** Answers its id and to how many it went. */
export async function sendMessage(body: CreateMessage): Promise<CreatedMessage> {
  const call = { method: 'POST', path: '/api/admin/messages', body } as const
  return (await request<CreatedMessage>(call)).data
}
