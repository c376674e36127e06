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

/** How many lines of the results each relay gets before they stall, or null for all. */
const STALLS = [3_000, 7_000, null] as const
const MODEL = 'gemini-test'

let site: RelaySite
let provider: Awaited<ReturnType<typeof serve>>
let isEnded = false
let stallAfter: number | null = null
/** How often the running relay has read the ended batch. */
let readings = 0

beforeAll(async () => {
  const listen: RequestListener = (request, response) => {
    request.resume()
    request.on('end', () => answer(response))
  }
  provider = await serve(listen, null, KEPT_CONNECTIONS)
  site = await startRelaySite(SHORT_LEASES)
})

afterAll(async () => {
  await provider?.close()
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
    const key = await addBatchCaller(site, provider, { type: 24, model: MODEL })
    let relay = await site.startRelay()
    const body = { batch: { display_name: 'nightly', input_config: { requests: { requests } } } }
    const path = `/v1beta/models/${MODEL}:batchGenerateContent`
    const post = await send(relay, key, 'POST', path, body)
    expect(post.status, post.text).toBe(200)
    const { name } = JSON.parse(post.text)
    const batch = batchIn(name)
    stallAfter = STALLS[0]
    isEnded = true
    relay = await killTwiceWhileItSettles(
      site,
      relay,
      batch,
      (running) => send(running, key, 'GET', `/v1beta/${name}`),
      (kills) => {
        // Its poller may read at once.
        stallAfter = STALLS[kills] ?? null
        readings = 0
      },
    )
    const shown = async () => JSON.parse((await send(relay, key, 'GET', `/v1beta/${name}`)).text)
    await expect
      .poll(async () => (await shown()).done, { timeout: 60_000, interval: 500 })
      .toBe(true)
    const { metadata, response } = await shown()
    expect(metadata.state).toBe('BATCH_STATE_SUCCEEDED')
    expect(response.inlinedResponses.inlinedResponses).toEqual(
      requests.map((_, at) => resultOf(at)),
    )
    await expectEachLineToBeBilledOnce(site, batch)
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
