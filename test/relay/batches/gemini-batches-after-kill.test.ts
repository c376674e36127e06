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
/** How many lines of the results each relay gets before they stall, or null for all. */
const STALLS = [3_000, 7_000, null] as const
const USER = 2
const MODEL = 'gemini-test'

let site: RelaySite
let provider: Server
let isEnded = false
let stallAfter: number | null = null
/** How often the running relay has read the ended batch. */
let readings = 0

beforeAll(async () => {
  provider = createServer((request, response) => {
    request.resume()
    request.on('end', () => answer(response))
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  site = await startRelaySite(SHORT_LEASES)
}, 120_000)

afterAll(async () => {
  provider?.closeAllConnections()
  provider?.close()
  await site?.close()
})

/**
 * Describes the batch. A description of an ended batch contains its results, in which each
 * succeeded line has as many input tokens as its index. A relay reads the description first, and
 * then the results in it, so only further readings stall.
 */
function answer(response: ServerResponse): void {
  response.on('error', () => {})
  response.setHeader('content-type', 'application/json')
  const state = `BATCH_STATE_${isEnded ? 'SUCCEEDED' : 'RUNNING'}`
  const counts = { requestCount: String(LINES), successfulRequestCount: String(BILLED) }
  const metadata = { state, batchStats: isEnded ? counts : {} }
  const described = JSON.stringify({ name: 'batches/provider1', metadata })
  if (!isEnded) return void response.end(described)
  readings += 1
  const stall = readings === 1 ? null : stallAfter
  const open = '"response":{"inlinedResponses":{"inlinedResponses":['
  response.write(`${described.slice(0, -1)},"done":true,${open}`)
  for (let line = 0; line < (stall ?? LINES); line += 1) {
    response.write(`${line === 0 ? '' : ','}${JSON.stringify(resultOf(line))}`)
  }
  if (stall === null) response.end(']}}}')
}

function resultOf(line: number): object {
  const metadata = { key: `line-${line}` }
  if (line % 10 === 0) return { error: { code: 13, message: 'failed' }, metadata }
  const content = { role: 'model', parts: [{ text: 'Hello.' }] }
  const usageMetadata = { promptTokenCount: line, candidatesTokenCount: 1 }
  const response = { candidates: [{ content, finishReason: 'STOP' }], usageMetadata }
  return { response: { ...response, modelVersion: MODEL }, metadata }
}

const requests = Array.from({ length: LINES }, (_, line) => ({
  request: {
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    generationConfig: { maxOutputTokens: 8 },
  },
  metadata: { key: `line-${line}` },
}))

describe('a Gemini batch of 10 000 lines, whose relay is killed twice while it settles', () => {
  it('is billed once for each line', async () => {
    const { port } = provider.address() as AddressInfo
    await setOption(site.root, 'ModelRatio', { [MODEL]: 1 })
    await setOption(site.root, 'CompletionRatio', { [MODEL]: 1 })
    const fields = { type: 24, models: MODEL }
    await addChannel({ root: site.root, provider: { url: `http://127.0.0.1:${port}` } }, fields)
    const user = await addUser(site.root, 'batcher', 100_000_000)
    expect(user.id).toBe(USER)
    const { key } = await user.client.createToken({ name: 'batches', unlimited_quota: true })
    let relay = await site.startRelay()
    const body = { batch: { display_name: 'nightly', input_config: { requests: { requests } } } }
    const path = `/v1beta/models/${MODEL}:batchGenerateContent`
    const post = await send(relay, key, 'POST', path, body)
    expect(post.status, post.text).toBe(200)
    const { name } = JSON.parse(post.text)
    const batch = name.replace(/^batches\/(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    stallAfter = STALLS[0]
    isEnded = true
    for (const [kill, atLeast] of [1_000, 4_000].entries()) {
      void send(relay, key, 'GET', `/v1beta/${name}`).catch(() => {})
      await expect
        .poll(async () => (await billedLines(batch)).length, { timeout: 30_000, interval: 50 })
        .toBeGreaterThan(atLeast)
      expect((await billedLines(batch)).length).toBeLessThan(BILLED)
      await relay.kill()
      // Before the next relay starts, because its poller may read at once.
      stallAfter = STALLS[kill + 1] ?? null
      readings = 0
      relay = await site.startRelay()
    }
    const shown = async () => JSON.parse((await send(relay, key, 'GET', `/v1beta/${name}`)).text)
    await expect
      .poll(async () => (await shown()).done, { timeout: 60_000, interval: 500 })
      .toBe(true)
    const { metadata, response } = await shown()
    expect(metadata.state).toBe('BATCH_STATE_SUCCEEDED')
    expect(response.inlinedResponses.inlinedResponses).toEqual(
      requests.map((_, at) => resultOf(at)),
    )
    const lines = await billedLines(batch)
    expect(lines).toHaveLength(BILLED)
    expect(new Set(lines.map(({ line }) => line)).size).toBe(BILLED)
    // A line costs half of its tokens, rounded half up, as a call of its own.
    const charges = lines.map(({ line }) => Math.floor((line + 1) / 2 + 0.5))
    expect(lines.map(({ charge }) => Number(charge))).toEqual(charges)
    const ends = (await accountEvents()).filter(({ type }) => type === 'CallSettled')
    expect(ends).toHaveLength(1)
    const sum = charges.reduce((total, charge) => total + charge, 0)
    expect(ends[0]?.data).toMatchObject({ charge: sum, billedLines: BILLED })
    expect((await send(relay, key, 'DELETE', `/v1beta/${name}`)).status).toBe(200)
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
  const response = await fetch(`${relay.url}${path}`, {
    method,
    headers: { 'x-goog-api-key': key, 'content-type': 'application/json' },
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
