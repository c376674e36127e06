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
/** How many lines of the output each reading gets before it stalls, or null for all. */
const STALLS: (number | null)[] = [3_000, 7_000, null]
const USER = 2
const MODEL = 'lab-model'
const CHAT = '/v1/chat/completions'

let site: RelaySite
let provider: Server
let isEnded = false
let readings = 0
const deleted: string[] = []

const requests = Array.from({ length: LINES }, (_, line) => {
  const body = { model: MODEL, max_tokens: 8, messages: [{ role: 'user', content: 'Hi' }] }
  return `${JSON.stringify({ custom_id: `line-${line}`, method: 'POST', url: CHAT, body })}\n`
}).join('')

beforeAll(async () => {
  provider = createServer((request, response) => {
    request.resume()
    request.on('end', () => answer(request.method ?? '', request.url ?? '', response))
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  site = await startRelaySite(SHORT_LEASES)
}, 120_000)

afterAll(async () => {
  provider?.closeAllConnections()
  provider?.close()
  await site?.close()
})

function answer(method: string, url: string, response: ServerResponse): void {
  response.on('error', () => {})
  if (url.endsWith('/file-output/content')) return sendOutput(response)
  if (url.endsWith('/file-lines/content')) return void response.end(requests)
  response.setHeader('content-type', 'application/json')
  if (method === 'DELETE') deleted.push(url)
  if (url.startsWith('/v1/files')) return void response.end('{"id":"file-lines"}')
  const counts = { total: LINES, completed: BILLED, failed: LINES - BILLED }
  const ended = { status: 'completed', output_file_id: 'file-output', request_counts: counts }
  const status = isEnded ? ended : { status: 'in_progress' }
  response.end(JSON.stringify({ id: 'batch_1', input_file_id: 'file-lines', ...status }))
}

/** Sends the output, in which each succeeded line has as many input tokens as its index. */
function sendOutput(response: ServerResponse): void {
  const stall = STALLS[Math.min(readings, STALLS.length - 1)] ?? null
  readings += 1
  for (let line = 0; line < (stall ?? LINES); line += 1) {
    const usage = { prompt_tokens: line, completion_tokens: 1, total_tokens: line + 1 }
    const body = { object: 'chat.completion', model: MODEL, choices: [], usage }
    const failure = { status_code: 500, body: { error: { message: 'failed' } } }
    const result = line % 10 === 0 ? failure : { status_code: 200, body }
    response.write(`${JSON.stringify({ custom_id: `line-${line}`, response: result })}\n`)
  }
  if (stall === null) response.end()
}

describe('a file of 10 000 lines, whose relay is killed twice while its batch settles', () => {
  it('is billed once for each line', async () => {
    const { port } = provider.address() as AddressInfo
    await setOption(site.root, 'ModelRatio', { [MODEL]: 1 })
    await setOption(site.root, 'CompletionRatio', { [MODEL]: 1 })
    const fields = { type: 1, models: MODEL }
    await addChannel({ root: site.root, provider: { url: `http://127.0.0.1:${port}` } }, fields)
    const user = await addUser(site.root, 'batcher', 100_000_000)
    expect(user.id).toBe(USER)
    const { key } = await user.client.createToken({ name: 'batches', unlimited_quota: true })
    let relay = await site.startRelay()
    const form = new FormData()
    form.set('purpose', 'batch')
    form.set('file', new Blob([requests]), 'lines.jsonl')
    const uploaded = await send(relay, key, 'POST', '/v1/files', form)
    expect(uploaded.status, uploaded.text).toBe(200)
    const body = { endpoint: CHAT, completion_window: '24h' }
    const input = { input_file_id: JSON.parse(uploaded.text).id }
    const post = await send(relay, key, 'POST', '/v1/batches', { ...input, ...body })
    expect(post.status, post.text).toBe(200)
    const { id } = JSON.parse(post.text)
    const batch = id.replace(/^batch_(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    isEnded = true
    for (const atLeast of [1_000, 4_000]) {
      void send(relay, key, 'GET', `/v1/batches/${id}`).catch(() => {})
      await expect
        .poll(async () => (await billedLines(batch)).length, { timeout: 30_000, interval: 50 })
        .toBeGreaterThan(atLeast)
      expect((await billedLines(batch)).length).toBeLessThan(BILLED)
      await relay.kill()
      relay = await site.startRelay()
    }
    const shown = async () => JSON.parse((await send(relay, key, 'GET', `/v1/batches/${id}`)).text)
    await expect
      .poll(async () => (await shown()).status, { timeout: 60_000, interval: 500 })
      .toBe('completed')
    expect(readings).toBeGreaterThanOrEqual(3)
    expect(deleted).toEqual(['/v1/files/file-lines'])
    const { output_file_id: output } = await shown()
    const results = await send(relay, key, 'GET', `/v1/files/${output}/content`)
    expect(results.text.trim().split('\n')).toHaveLength(LINES)
    const list = async (query: string) => JSON.parse((await send(relay, key, 'GET', query)).text)
    expect(await list('/v1/batches?limit=1')).toMatchObject({ has_more: false, first_id: id })
    expect(await list(`/v1/batches?after=${id}`)).toMatchObject({ data: [], has_more: false })
    expect(await list('/v1/files?purpose=batch_output')).toMatchObject({ first_id: output })
    expect(await list(`/v1/files?after=${output}&order=asc`)).toMatchObject({ data: [] })
    const lines = await billedLines(batch)
    expect(new Set(lines.map(({ line }) => line)).size).toBe(BILLED)
    // A line costs half of its tokens, rounded half up, as a call of its own.
    const charges = lines.map(({ line }) => Math.floor((line + 1) / 2 + 0.5))
    expect(lines.map(({ charge }) => Number(charge))).toEqual(charges)
    const ends = (await accountEvents()).filter(({ type }) => type === 'CallSettled')
    expect(ends).toHaveLength(1)
    const sum = charges.reduce((total, charge) => total + charge, 0)
    expect(ends[0]?.data).toMatchObject({ charge: sum, billedLines: BILLED })
    expect((await send(relay, key, 'DELETE', `/v1/files/${output}`)).status).toBe(200)
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
  const isForm = body instanceof FormData
  const response = await fetch(`${relay.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(isForm ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  })
  return { status: response.status, text: await response.text() }
}

async function billedLines(batch: string) {
  const events = (await site.store.readStream(batchStream(batch))) as unknown as BatchEvent[]
  return events.flatMap((event) => (event.type === 'BatchLinesBilled' ? event.data.lines : []))
}

const accountEvents = async () =>
  (await site.store.readStream(accountStream(USER))) as unknown as AccountEvent[]
