import type { RequestListener, ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SHORT_LEASES } from '#test/support/multi-process-site.ts'
import type { ProductProcess } from '#test/support/product-process.ts'
import { KEPT_CONNECTIONS, serve } from '#test/support/start-http-server.ts'
import {
  addBatchCaller,
  BILLED,
  batchIn,
  expectEachLineToBeBilledOnce,
  killTwiceWhileItSettles,
  LINES,
} from '../support/batch-of-killed-relays.ts'
import { type RelaySite, startRelaySite } from '../support/relay-site.ts'

/** How many lines of the output each reading gets before it stalls, or null for all. */
const STALLS: (number | null)[] = [3_000, 7_000, null]
const MODEL = 'lab-model'
const CHAT = '/v1/chat/completions'

let site: RelaySite
let provider: Awaited<ReturnType<typeof serve>>
let isEnded = false
let readings = 0
const deleted: string[] = []

const requests = Array.from({ length: LINES }, (_, line) => {
  const body = { model: MODEL, max_tokens: 8, messages: [{ role: 'user', content: 'Hi' }] }
  return `${JSON.stringify({ custom_id: `line-${line}`, method: 'POST', url: CHAT, body })}\n`
}).join('')

beforeAll(async () => {
  const listen: RequestListener = (request, response) => {
    request.resume()
    request.on('end', () => answer(request.method ?? '', request.url ?? '', response))
  }
  provider = await serve(listen, null, KEPT_CONNECTIONS)
  site = await startRelaySite(SHORT_LEASES)
})

afterAll(async () => {
  await provider?.close()
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
    const key = await addBatchCaller(site, provider, { type: 1, model: MODEL })
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
    const batch = batchIn(id)
    isEnded = true
    relay = await killTwiceWhileItSettles(site, relay, batch, (running) =>
      send(running, key, 'GET', `/v1/batches/${id}`),
    )
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
    await expectEachLineToBeBilledOnce(site, batch)
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
