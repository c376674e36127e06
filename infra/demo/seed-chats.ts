import { type ChatClient, chatTemplate } from './chat-client.ts'
import type { ConsoleClient } from './console-client.ts'

const NAME = 'Demo chat'

/** Lists the demo's chat client first; it has another port at each start. Others are kept. */
export async function seedChats(
  root: Pick<ConsoleClient, 'must'>,
  client: Pick<ChatClient, 'url'>,
): Promise<void> {
  const options = await root.must<{ key: string; value: string }[]>('GET', '/api/option/')
  const now = options.find(({ key }) => key === 'Chats')?.value || '[]'
  const others = (JSON.parse(now) as Record<string, string>[]).filter((chat) => !(NAME in chat))
  const value = JSON.stringify([{ [NAME]: chatTemplate(client.url) }, ...others])
  await root.must('PUT', '/api/option/', { key: 'Chats', value })
}
