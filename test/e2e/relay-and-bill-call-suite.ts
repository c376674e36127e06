import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LogEntry } from '#read-api/contract/logs.ts'
import type { User } from '#read-api/contract/users.ts'
import { addChannel, chat, setOption, type TestProduct } from '#test/support/test-product.ts'

/**
 * Defines tests that relay a call, check its exact bill and find it in the log, on the engines of
 * `open`.
 */
export function mainJobSuite(open: () => Promise<TestProduct>): void {
  let product: TestProduct
  let token: { id: number; key: string }

  beforeAll(async () => {
    product = await open()
    await addChannel(product)
    await setOption(product.root, 'ModelRatio', { 'sim-small': 1.25 })
    await setOption(product.root, 'CompletionRatio', { 'sim-small': 4 })
    token = await product.root.createToken({ name: 'main job', unlimited_quota: true })
  })
  afterAll(() => product?.close())

  const balance = async () => (await product.root.must<User>('GET', '/api/user/self')).quota

  const newestRow = async (requestId: string): Promise<LogEntry> => {
    for (const end = Date.now() + 5_000; Date.now() < end; ) {
      const { items } = await product.root.must<{ items: LogEntry[] }>('GET', '/api/log/self/?p=0')
      const row = items.find((item) => item.request_id === requestId)
      if (row !== undefined) return row
    }
    throw new Error(`no row for ${requestId}`)
  }

  const messages = [{ role: 'user' as const, content: 'Say something short, please.' }]

  describe('the official OpenAI client', () => {
    it('gets a plain answer, and the balance falls by exactly the cost in the log', async () => {
      const before = await balance()
      const client = new OpenAI({ baseURL: `${product.url}/v1`, apiKey: token.key })
      const { data, response } = await client.chat.completions
        .create({ model: 'sim-small', messages, max_tokens: 10 })
        .withResponse()
      expect(data.choices[0]?.message.content).toMatch(/ledger/)
      const row = await newestRow(response.headers.get('x-request-id') ?? '')
      const { prompt_tokens: prompt = 0, completion_tokens: completion = 0 } = data.usage ?? {}
      expect(row).toMatchObject({ prompt_tokens: prompt, completion_tokens: completion, type: 2 })
      expect(row.quota).toBe(Math.round((prompt + completion * 4) * 1.25))
      expect(before - (await balance())).toBe(row.quota)
    })

    it('gets a streamed answer, with usage only when the request asks for usage', async () => {
      const client = new OpenAI({ baseURL: `${product.url}/v1`, apiKey: token.key })
      const { data, response } = await client.chat.completions
        .create({ model: 'sim-small', messages, stream: true })
        .withResponse()
      let text = ''
      for await (const chunk of data) {
        expect(chunk.choices).toHaveLength(1)
        expect(chunk.usage ?? null).toBeNull()
        text += chunk.choices[0]?.delta.content ?? ''
      }
      expect(text).toMatch(/^a ledger/)
      const row = await newestRow(response.headers.get('x-request-id') ?? '')
      expect(row).toMatchObject({ is_stream: true, completion_tokens: 20, model_name: 'sim-small' })
      const other = JSON.parse(row.other) as { frt?: number; usage_source?: string }
      expect(other).toMatchObject({ usage_source: 'upstream' })
      expect(other.frt).toBeGreaterThanOrEqual(0)
    })

    it('lists the models that its token may call, which are those with a price', async () => {
      const client = new OpenAI({ baseURL: `${product.url}/v1`, apiKey: token.key })
      const { data } = await client.models.list()
      expect(data.map(({ id }) => id)).toEqual(['sim-small'])
    })
  })

  describe('a model named like a property of JavaScript objects', () => {
    it.each(['constructor', '__proto__', 'toString'])('%s is refused, not free', async (model) => {
      const before = product.provider.journal.count
      const { status } = await chat(product.url, token.key, { model })
      expect(status).toBeGreaterThanOrEqual(400)
      expect(status).toBeLessThan(504)
      expect(product.provider.journal.count).toBe(before)
    })
  })

  describe('200 callers whose balance covers exactly 10 calls', () => {
    it('exactly 10 succeed and the balance ends at 0, never below', async () => {
      const { root, url } = product
      await setOption(root, 'ModelPrice', { 'sim-large': 0.002 })
      const { id } = await root.must<{ id: number }>('GET', '/api/user/self')
      await root.must('PUT', '/api/user/', { id, quota: 10_000 })
      const answers = await Promise.all(
        Array.from({ length: 200 }, () => chat(url, token.key, { model: 'sim-large' })),
      )
      const statuses = answers.map(({ status }) => status)
      expect(statuses.filter((status) => status === 200)).toHaveLength(10)
      expect(statuses.filter((status) => status === 402)).toHaveLength(190)
      await expect.poll(balance).toBe(0)
    })
  })
}
