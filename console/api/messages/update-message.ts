import type { UpdateMessage } from '#write-api/contract/message.ts'
import { request } from '../request.ts'

export async function updateMessage(id: number, body: UpdateMessage): Promise<void> {
  await request({ method: 'PUT', path: `/api/admin/messages/${id}`, body })
}
