import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SHORT_LEASES } from '#test/support/multi-process-site.ts'
import type { ProductProcess } from '#test/support/product-process.ts'
import { addChannel, setOption } from '#test/support/test-product.ts'
import { type DroppingProxy, startDroppingProxy } from '../infra/event-store/dropping-proxy.ts'
import { type RelaySite, startRelaySite } from './support/relay-site.ts'
import { type ScriptedProvider, scriptedProvider } from './support/scripted-provider.ts'

const MODEL = 'lab-model'
const MESSAGES = [{ role: 'user', content: 'Hi' }]
const HEX = '0192f0c8a5b47c3e8f1a2b3c4d5e6f70'
const TASK = '0192f0c8-a5b4-7c3e-8f1a-2b3c4d5e6f70'
const FILE = `/v1/files/file-${HEX}`
const OPENAI_BATCH = `/v1/batches/batch_${HEX}`
const ANTHROPIC_BATCH = `/v1/messages/batches/msgbatch_${HEX}`
const GEMINI_BATCH = `/v1beta/batches/${HEX}`
const CHAT = { model: MODEL, max_tokens: 8, messages: MESSAGES }
const CONTENTS = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }
const LINE = { custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body: CHAT }

/** Where the body of an error has its code, by the dialect of the caller. */
const ERRORS = {
  openai: { error: { code: 'store_unavailable', message: expect.any(String) } },
  anthropic: { type: 'error', error: { type: 'overloaded_error' } },
  gemini: { error: { code: 503, status: 'UNAVAILABLE' } },
  drawing: { description: expect.any(String) },
  music: { message: expect.any(String) },
} as const

type Request = readonly [dialect: keyof typeof ERRORS, request: string, body?: object]

const formWithFile = (): FormData => {
  const form = new FormData()
  form.set('purpose', 'batch')
  form.set('file', new Blob([`${JSON.stringify(LINE)}\n`]), 'lines.jsonl')
  return form
}

const REQUESTS: readonly Request[] = [
  ['openai', 'GET /v1/batches'],
  ['openai', `GET ${OPENAI_BATCH}`],
  ['openai', `POST ${OPENAI_BATCH}/cancel`],
  [
    'openai',
    'POST /v1/batches',
    { input_file_id: `file-${HEX}`, endpoint: LINE.url, completion_window: '24h' },
  ],
  ['openai', 'GET /v1/files'],
  ['openai', `GET ${FILE}`],
  ['openai', `GET ${FILE}/content`],
  ['openai', `DELETE ${FILE}`],
  ['openai', 'POST /v1/files', formWithFile()],
  ['anthropic', 'GET /v1/messages/batches'],
  ['anthropic', `GET ${ANTHROPIC_BATCH}`],
  ['anthropic', `GET ${ANTHROPIC_BATCH}/results`],
  ['anthropic', `POST ${ANTHROPIC_BATCH}/cancel`],
  ['anthropic', `DELETE ${ANTHROPIC_BATCH}`],
  ['anthropic', 'POST /v1/messages/batches', { requests: [{ custom_id: 'a', params: CHAT }] }],
  ['gemini', 'GET /v1beta/batches'],
  ['gemini', `GET ${GEMINI_BATCH}`],
  ['gemini', `POST ${GEMINI_BATCH}:cancel`],
  ['gemini', `DELETE ${GEMINI_BATCH}`],
  ['openai', 'GET /v1/responses/resp_1'],
  ['openai', 'DELETE /v1/responses/resp_1'],
  ['openai', 'POST /v1/responses', { model: MODEL, input: 'Hi', previous_response_id: 'resp_1' }],
  ['openai', 'POST /v1/responses', { model: MODEL, input: 'Hi' }],
  ['openai', 'POST /v1/chat/completions', CHAT],
  ['anthropic', 'POST /v1/messages', CHAT],
  ['gemini', `POST /v1beta/models/${MODEL}:generateContent`, CONTENTS],
  ['openai', 'POST /v1/realtime/client_secrets', { session: { type: 'realtime', model: MODEL } }],
  ['openai', 'GET /v1/dashboard/billing/subscription'],
  ['openai', 'GET /v1/dashboard/billing/usage'],
  ['openai', 'GET /api/usage/token'],
  ['drawing', `GET /mj/task/${TASK}/fetch`],
  ['drawing', `GET /mj/task/${TASK}/image-seed`],
  ['drawing', 'POST /mj/task/list-by-condition', { ids: [TASK] }],
  ['music', `GET /suno/fetch/${TASK}`],
  ['music', 'POST /suno/fetch', { ids: [TASK] }],
  ['openai', 'GET /v1/videos'],
  ['openai', `GET /v1/videos/${TASK}`],
  ['openai', `GET /v1/videos/${TASK}/content`],
  ['openai', `DELETE /v1/videos/${TASK}`],
]

const CASES = REQUESTS.map(([dialect, request, body]) => ({ dialect, request, body }))

let site: RelaySite
let provider: ScriptedProvider
let gate: DroppingProxy
let relay: ProductProcess
let key: string

beforeAll(async () => {
  provider = await scriptedProvider()
  site = await startRelaySite(SHORT_LEASES)
  const { root } = site
  await setOption(root, 'ModelRatio', { [MODEL]: 1 })
  await setOption(root, 'CompletionRatio', { [MODEL]: 1 })
  await setOption(root, 'DrawingEnabled', true)
  await setOption(root, 'TaskEnabled', true)
  await addChannel({ root, provider }, { type: 8, models: MODEL })
  await addChannel({ root, provider }, { type: 14, models: MODEL })
  await addChannel({ root, provider }, { type: 24, models: MODEL })
  key = (await root.createToken({ name: 'lookups', unlimited_quota: true })).key
  gate = await startDroppingProxy(site.databaseUrl)
  relay = await site.startRelay({ DATABASE_URL: gate.url, LOG_LEVEL: 'fatal' })
  expect((await send('openai', 'GET /v1/files')).status).toBe(200)
  await gate.close()
}, 300_000)

afterAll(async () => {
  await gate?.close()
  await site?.close()
  await provider?.close()
})

async function send(dialect: Request[0], request: string, body?: object) {
  const [method = '', path = ''] = request.split(' ')
  const isForm = body instanceof FormData
  return fetch(`${relay.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(isForm ? {} : { 'content-type': 'application/json' }),
      ...(dialect === 'anthropic' ? { 'anthropic-version': '2023-06-01' } : {}),
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  })
}

describe('while the database is away', () => {
  it.each(CASES)(
    'a caller of $dialect gets 503 for $request',
    async ({ dialect, request, body }) => {
      const answer = await send(dialect, request, body)
      const text = await answer.text()
      expect(answer.status, text).toBe(503)
      expect(Number(answer.headers.get('retry-after')), text).toBeGreaterThan(0)
      expect(JSON.parse(text)).toMatchObject(ERRORS[dialect])
      expect(text).not.toMatch(/ECONN|postgres|terminated/i)
    },
    30_000,
  )

  it('the models of a key are listed as before', async () => {
    const answer = await send('openai', 'GET /v1/models')
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain(MODEL)
  })

  it('nothing is sent to a provider', () => {
    expect(provider.requests).toEqual([])
  })
})
