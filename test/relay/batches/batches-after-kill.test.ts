import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AccountEvent, accountStream } from '#domain/accounts/events.ts'
import { type BatchEvent, batchStream } from '#domain/batches/events.ts'
import { SHORT_LEASES } from '#test/support/multi-process-site.ts'
import type { ProductProcess } from '#test/support/product-process.ts'
import { addChannel, addUser, setOption } from '#test/support/test-product.ts'
import { type RelaySite, startRelaySite } from '../support/relay-site.ts'

const LINES = 10_000
/** Every tenth line fails and costs nothing. */
const BILLED = 9_000
/** How many lines of the results each reading gets before it stalls, or null for all. */
const STALLS: (number | null)[] = [3_000, 7_000, null]
const USER = 2
const MODEL = 'claude-sonnet-5-5'
const BATCHES = '/v1/messages/batches'

let site: RelaySite
let provider: Server
let isEnded = false
let readings = 0

beforeAll(async () => {
  provider = createServer((request, response) => {
    request.resume()
    request.on('end', () => answer(request.url ?? '', response))
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  site = await startRelaySite(SHORT_LEASES)
}, 120_000)

afterAll(async () => {
  provider?.closeAllConnections()
  provider?.close()
  await site?.close()
})

function answer(url: string, response: ServerResponse): void {
  response.on('error', () => {})
  if (url.endsWith('/results')) return sendResults(response)
  const status = isEnded ? 'ended' : 'in_progress'
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ id: 'msgbatch_1', processing_status: status }))
}

/** Sends results, in which each succeeded line has as many input tokens as its index. */
function sendResults(response: ServerResponse): void {
  const stall = STALLS[Math.min(readings, STALLS.length - 1)] ?? null
  readings += 1
  for (let line = 0; line < (stall ?? LINES); line += 1) {
    const usage = { input_tokens: line, output_tokens: 1 }
    const message = { type: 'message', role: 'assistant', model: MODEL, content: [], usage }
    const result = line % 10 === 0 ? { type: 'expired' } : { type: 'succeeded', message }
    response.write(`${JSON.stringify({ custom_id: `line-${line}`, result })}\n`)
  }
  if (stall === null) response.end()
}

const requests = Array.from({ length: LINES }, (_, line) => ({
  custom_id: `line-${line}`,
  params: { model: MODEL, max_tokens: 8, messages: [{ role: 'user', content: 'Hi' }] },
}))

describe('a batch of 10 000 lines, whose relay is killed twice while it settles', () => {
  it('is billed once for each line', async () => {
    const { port } = provider.address() as AddressInfo
    await setOption(site.root, 'ModelRatio', { [MODEL]: 1 })
    await setOption(site.root, 'CompletionRatio', { [MODEL]: 1 })
    const fields = { type: 14, models: MODEL }
    await addChannel({ root: site.root, provider: { url: `http://127.0.0.1:${port}` } }, fields)
    const user = await addUser(site.root, 'batcher', 100_000_000)
    expect(user.id).toBe(USER)
    const token = await user.client.createToken({ name: 'batches', unlimited_quota: true })
    let relay = await site.startRelay()
    const post = await send(relay, token.key, 'POST', '', { requests })
    expect(post.status, post.text).toBe(200)
    const { id } = JSON.parse(post.text)
    const batch = id.replace(/^msgbatch_(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    isEnded = true
    for (const atLeast of [1_000, 4_000]) {
      void send(relay, token.key, 'GET', `/${id}`).catch(() => {})
      await expect
        .poll(async () => (await billedLines(batch)).length, { timeout: 30_000, interval: 50 })
        .toBeGreaterThan(atLeast)
      expect((await billedLines(batch)).length).toBeLessThan(BILLED)
      await relay.kill()
      relay = await site.startRelay()
    }
    const status = async () =>
      JSON.parse((await send(relay, token.key, 'GET', `/${id}`)).text).processing_status
    await expect.poll(status, { timeout: 60_000, interval: 500 }).toBe('ended')
    expect(readings).toBeGreaterThanOrEqual(3)
    const results = await send(relay, token.key, 'GET', `/${id}/results`)
    expect(results.text.trim().split('\n')).toHaveLength(LINES)
    const list = async (query: string) =>
      JSON.parse((await send(relay, token.key, 'GET', query)).text)
    expect(await list('?limit=1')).toMatchObject({ has_more: false, first_id: id })
    expect(await list(`?after_id=${id}`)).toMatchObject({ data: [], has_more: false })
    expect(await list(`?before_id=${id}`)).toMatchObject({ data: [], has_more: false })
    const lines = await billedLines(batch)
    expect(lines).toHaveLength(BILLED)
    expect(new Set(lines.map(({ line }) => line)).size).toBe(BILLED)
    // A line costs half of its tokens, rounded half up, as a call of its own.
    const charges = lines.map(({ line }) => Math.floor((line + 1) / 2 + 0.5))
    expect(lines.map(({ charge }) => Number(charge))).toEqual(charges)
    const ends = (await accountEvents()).filter(({ type }) => type === 'CallSettled')
    expect(ends).toHaveLength(1)
    const [end] = ends
    const sum = charges.reduce((total, charge) => total + charge, 0)
    expect(end?.data).toMatchObject({ charge: sum, billedLines: BILLED })
    const log = async () => {
      const { items } = await site.root.must<{ items: { model_name: string; other: string }[] }>(
        'GET',
        `/api/log/?page_size=100&type=2&model_name=${MODEL}`,
      )
      return items.map(({ other }) => JSON.parse(other))
    }
    const row = { batch_lines: LINES, batch_lines_billed: BILLED, batch_ratio: '0.5' }
    await expect.poll(log, { timeout: 20_000 }).toMatchObject([row])
    expect(await relay.stop()).toBe(0)
    await site.expectReadModelsToEqualTheFold()
  }, 240_000)
})

async function send(
  relay: ProductProcess,
  key: string,
  method: string,
  path: string,
  body?: object,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${relay.url}${BATCHES}${path}`, {
    method,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, text: await response.text() }
}

async function billedLines(batch: string) {
  const events = (await site.store.readStream(batchStream(batch))) as unknown as BatchEvent[]
  return events.flatMap((event) => (event.type === 'BatchLinesBilled' ? event.data.lines : []))
}

const accountEvents = async () =>
  (await site.store.readStream(accountStream(USER))) as unknown as AccountEvent[]
