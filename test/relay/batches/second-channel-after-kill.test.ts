import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type AccountEvent, accountStream } from '#domain/accounts/events.ts'
import { type BatchEvent, batchStream } from '#domain/batches/events.ts'
import { SHORT_LEASES } from '#test/support/multi-process-site.ts'
import type { ProductProcess } from '#test/support/product-process.ts'
import { KEPT_CONNECTIONS, serve } from '#test/support/start-http-server.ts'
import { addChannel, setOption } from '#test/support/test-product.ts'
import { addBatchCaller, batchIn } from '../support/batch-of-killed-relays.ts'
import { type RelaySite, startRelaySite } from '../support/relay-site.ts'

const MODEL = 'claude-sonnet-5-5'
const BATCHES = '/v1/messages/batches'
const USER = 2
const params = { model: MODEL, max_tokens: 8, messages: [{ role: 'user', content: 'Hi' }] }
const BODY = JSON.stringify({ requests: [{ custom_id: 'a', params }] })

let site: RelaySite
let provider: Awaited<ReturnType<typeof serve>>
let key: string
/** The channel that is tried first, and whose provider refuses connections. */
let firstChannel = 0
let secondChannel = 0
/** The number of submissions that the second provider has received. */
let submissions = 0
/** True while the second provider takes batches, but does not answer. */
let isSilent = false
let isEnded = false

beforeAll(async () => {
  const listen: RequestListener = (request, response) => {
    request.resume().on('end', () => answer(request, response))
    request.on('error', () => {})
  }
  provider = await serve(listen, null, KEPT_CONNECTIONS)
  site = await startRelaySite(SHORT_LEASES)
  await setOption(site.root, 'RetryTimes', '1')
  key = await addBatchCaller(site, provider, { type: 14, model: MODEL })
  const dead = await serve(() => {})
  await dead.close()
  const first = { type: 14, models: MODEL, priority: 10 }
  firstChannel = await addChannel({ root: site.root, provider: dead }, first)
  secondChannel = firstChannel - 1
}, 300_000)

afterAll(async () => {
  await provider?.close()
  await site?.close()
})

beforeEach(() => {
  isEnded = false
  isSilent = false
})

function answer({ method, url = '' }: IncomingMessage, response: ServerResponse): void {
  response.on('error', () => {})
  if (method === 'POST') submissions += 1
  if (method === 'POST' && isSilent) return
  if (url.endsWith('/results')) {
    const usage = { input_tokens: 10, output_tokens: 6 }
    const message = { type: 'message', role: 'assistant', model: MODEL, content: [], usage }
    const result = { type: 'succeeded', message }
    return void response.end(`${JSON.stringify({ custom_id: 'a', result })}\n`)
  }
  response.setHeader('content-type', 'application/json')
  const status = isEnded ? 'ended' : 'in_progress'
  response.end(JSON.stringify({ id: 'msgbatch_1', processing_status: status }))
}

const send = (relay: ProductProcess, method: string, path = '', idempotencyKey = '') =>
  fetch(`${relay.url}${BATCHES}${path}`, {
    method,
    headers: {
      ...{ 'x-api-key': key, 'content-type': 'application/json' },
      ...(idempotencyKey === '' ? {} : { 'idempotency-key': idempotencyKey }),
    },
    ...(method === 'POST' ? { body: BODY } : {}),
  })

const accountEvents = async () =>
  (await site.store.readStream(accountStream(USER))) as unknown as AccountEvent[]
const typesOf = async (batch: string) =>
  ((await site.store.readStream(batchStream(batch))) as unknown as BatchEvent[]).map(
    ({ type }) => type,
  )

/** Makes all batches half an hour older than they are, so that unaccepted ones count as lost. */
async function passHalfAnHour(): Promise<void> {
  const client = new Client({ connectionString: site.databaseUrl })
  await client.connect()
  await client.query('update relay.batches set submitted_at = submitted_at - 1800000')
  await client.end()
}

describe('a batch that the first channel did not accept', () => {
  it('is billed once if the relay is killed after the second channel accepted it', async () => {
    const relay = await site.startRelay()
    const response = await send(relay, 'POST', '', 'accepted')
    const text = await response.text()
    expect(response.status, text).toBe(200)
    const { id } = JSON.parse(text)
    await relay.kill()
    const next = await site.startRelay()
    expect((await send(next, 'POST', '', 'accepted')).status).toBe(409)
    isEnded = true
    const types = async () => {
      await (await send(next, 'GET', `/${id}`)).text()
      return typesOf(batchIn(id))
    }
    await expect
      .poll(types, { timeout: 60_000, interval: 500 })
      .toEqual(['BatchSubmitted', 'BatchRouted', 'BatchAccepted', 'BatchLinesBilled', 'BatchEnded'])
    // (10 + 6) at half price.
    const settled = (await accountEvents()).filter(({ type }) => type === 'CallSettled')
    expect(settled).toMatchObject([{ data: { charge: 8, channelId: secondChannel } }])
    expect(submissions).toBe(1)
    await next.kill()
  }, 300_000)

  it('is not charged, and keeps its channel, if the relay is killed while it is sent', async () => {
    isSilent = true
    const relay = await site.startRelay()
    const before = submissions
    send(relay, 'POST', '', 'unanswered').catch(() => {})
    await expect.poll(() => submissions).toBe(before + 1)
    await relay.kill()
    isSilent = false
    // The second channel may have the batch, so it is not deleted.
    const path = `/api/channel/${secondChannel}/`
    const deletion = await site.root.call('DELETE', path)
    expect(deletion).toMatchObject({ status: 409, code: 'WorkInFlight' })
    const next = await site.startRelay()
    expect((await send(next, 'POST', '', 'unanswered')).status).toBe(409)
    await passHalfAnHour()
    const released = async () =>
      (await accountEvents()).filter(({ type }) => type === 'CallReleased')
    await expect.poll(released, { timeout: 120_000, interval: 500 }).toMatchObject([
      {
        data: {
          errorCode: 'batch_lost',
          attempts: [{ channelId: firstChannel, error: 'connect' }],
        },
      },
    ])
    expect(submissions).toBe(before + 1)
    expect(await next.stop()).toBe(0)
    await site.expectReadModelsToEqualTheFold()
  }, 300_000)
})
