import { expect, it } from 'vitest'
import { chatTemplate, startChatClient } from '#infra/demo/chat-client-page.ts'
import { seedChats } from '#infra/demo/seed.ts'

it('the demo’s chat client is listed first, once, at its new address; others stay', async () => {
  const client = await startChatClient()
  const other = { Other: 'https://chat.example.com/?key={key}' }
  let value = JSON.stringify([other, { 'Demo chat': 'http://127.0.0.1:1/#key={key}' }])
  const must = async <T>(method: string, _path: string, body?: unknown): Promise<T> => {
    if (method === 'PUT') value = (body as { value: string }).value
    return [{ key: 'Chats', value }] as T
  }
  await seedChats({ must }, client)
  expect(JSON.parse(value)).toEqual([{ 'Demo chat': chatTemplate(client.url) }, other])
  const page = await fetch(client.url)
  expect([page.status, page.headers.get('x-frame-options')]).toEqual([200, null])
  await client.close()
})
