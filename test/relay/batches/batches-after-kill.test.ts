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

/** How many lines of the results each reading gets before it stalls, or null for all. */
const STALLS: (number | null)[] = [3_000, 7_000, null]
const MODEL = 'claude-sonnet-5-5'
const BATCHES = '/v1/messages/batches'

let site: RelaySite
let provider: Awaited<ReturnType<typeof serve>>
let isEnded = false
let readings = 0

beforeAll(async () => {
  const listen: RequestListener = (request, response) => {
    request.resume()
    request.on('end', () => answer(request.url ?? '', response))
  }
  provider = await serve(listen, null, KEPT_CONNECTIONS)
  site = await startRelaySite(SHORT_LEASES)
})

afterAll(async () => {
  await provider?.close()
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
    const key = await addBatchCaller(site, provider, { type: 14, model: MODEL })
    let relay = await site.startRelay()
    const post = await send(relay, key, 'POST', '', { requests })
    expect(post.status, post.text).toBe(200)
    const { id } = JSON.parse(post.text)
    const batch = batchIn(id)
    isEnded = true
    relay = await killTwiceWhileItSettles(site, relay, batch, (running) =>
      send(running, key, 'GET', `/${id}`),
    )
    const status = async () =>
      JSON.parse((await send(relay, key, 'GET', `/${id}`)).text).processing_status
    await expect.poll(status, { timeout: 60_000, interval: 500 }).toBe('ended')
    expect(readings).toBeGreaterThanOrEqual(3)
    const results = await send(relay, key, 'GET', `/${id}/results`)
    expect(results.text.trim().split('\n')).toHaveLength(LINES)
    const list = async (query: string) => JSON.parse((await send(relay, key, 'GET', query)).text)
    expect(await list('?limit=1')).toMatchObject({ has_more: false, first_id: id })
    expect(await list(`?after_id=${id}`)).toMatchObject({ data: [], has_more: false })
    expect(await list(`?before_id=${id}`)).toMatchObject({ data: [], has_more: false })
    await expectEachLineToBeBilledOnce(site, batch)
    const log = async () => {
      const { items } = await site.root.must<{ items: { model_name: string; other: string }[] }>(
        'GET',
        `/api/log/?page_size=100&type=2&model_name=${MODEL}`,
      )
      return items.map(({ other }) => JSON.parse(other))
    }
    const row = { batch_lines: LINES, batch_lines_billed: BILLED, batch_ratio: '0.5' }
    await expect.poll(log).toMatchObject([row])
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
