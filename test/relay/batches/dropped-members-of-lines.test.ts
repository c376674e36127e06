import { beforeEach, describe, expect, it } from 'vitest'
import type { CallSettled } from '#domain/accounts/events.ts'
import { batchStream } from '#domain/batches/events.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { NO_USAGE } from '#domain/pricing/usage.ts'
import { otherOfSettled } from '#projections/logs/log-row-details.ts'
import { BatchLedger } from '#relay/batches/batch-ledger.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, relayRig } from '../support/relay-rig.ts'
import { scriptedProvider } from '../support/scripted-provider.ts'

const CLAUDE = 'claude-sonnet-5-5'
const GEMINI = 'gemini-test'
const GPT = 'lab-model'
const FILE = 'file-provider1'
const SUBMIT_GEMINI = `/v1beta/models/${GEMINI}:batchGenerateContent`
const CHAT = '/v1/chat/completions'
/** Members with names that begin like this are never sent. */
const PREFIX = 'litellm_'
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(() => relayRig({ batchPollEveryMs: 3_600_000 }))

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  const baseUrl = provider.url
  await rig.addChannel(2, { type: 14, baseUrl, models: [CLAUDE] })
  await rig.addChannel(3, { type: 24, baseUrl, models: [GEMINI] })
  await rig.addChannel(4, { type: 1, baseUrl, models: [GPT] })
  await rig.setOption('ModelRatio', { [CLAUDE]: 1, [GEMINI]: 1, [GPT]: 1 })
  const { answers } = provider
  answers.set('POST /v1/messages/batches', {
    body: { id: 'msgbatch_provider1', processing_status: 'in_progress' },
  })
  answers.set(`POST ${SUBMIT_GEMINI}`, {
    body: { name: 'batches/provider1', metadata: { state: 'BATCH_STATE_PENDING' } },
  })
  answers.set('POST /v1/files', { body: { id: FILE, object: 'file' } })
  const batch = { id: 'batch_provider1', status: 'in_progress', input_file_id: FILE }
  answers.set('POST /v1/batches', { body: batch })
})

async function post(path: string, body: object, more: Record<string, string> = {}) {
  const isForm = body instanceof FormData
  const type: Record<string, string> = isForm ? {} : { 'content-type': 'application/json' }
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, ...type, ...more },
    body: isForm ? body : JSON.stringify(body),
  })
  const names = (header: string) => response.headers.get(header)?.split(', ') ?? []
  const dropped = names('x-dropped-members')
  const losses = names('x-conversion-loss')
  return { status: response.status, text: await response.text(), dropped, losses }
}

const messages = [{ role: 'user', content: 'Hi' }]
const message = (custom_id: string, more: object = {}) => ({
  custom_id,
  params: { model: CLAUDE, max_tokens: 64, messages, ...more },
})
const submitMessages = (requests: readonly object[], more: Record<string, string> = {}) =>
  post('/v1/messages/batches', { requests }, more)

const generation = (more: object = {}) => ({
  request: {
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    generationConfig: { maxOutputTokens: 64 },
    ...more,
  },
})
const submitGenerations = (requests: readonly object[], more: object = {}) =>
  post(SUBMIT_GEMINI, { batch: { inputConfig: { requests: { requests } }, ...more } })

describe('a message batch', () => {
  it('names each dropped member of its lines once', async () => {
    const { status, text, dropped } = await submitMessages([
      message('a', { service_tier: 'priority' }),
      message('b'),
      message('c', { container: 'container-1', service_tier: 'priority' }),
    ])
    expect(status, text).toBe(200)
    expect(dropped).toEqual(['service_tier', 'container'])
    expect(provider.requests[0]?.body).not.toMatch(/service_tier|container/)
  })

  it('names nothing if nothing is dropped', async () => {
    const { status, dropped, losses } = await submitMessages([message('a')])
    expect([status, dropped, losses]).toEqual([200, [], []])
  })

  it('names beta features that are not sent', async () => {
    const beta = 'message-batches-2024-09-24,context-1m-2025-08-07'
    const { status, dropped } = await submitMessages([message('a')], { 'anthropic-beta': beta })
    expect([status, dropped]).toEqual([200, ['anthropic-beta: context-1m-2025-08-07']])
    const sent = provider.requests[0]?.headers['anthropic-beta']
    expect(sent).toBe('message-batches-2024-09-24')
  })

  it('names the lifetimes of caches that are shortened', async () => {
    const cache_control = { type: 'ephemeral', ttl: '1h' }
    const content = [{ type: 'text', text: 'Hi', cache_control }]
    const line = message('a', { messages: [{ role: 'user', content }] })
    expect((await submitMessages([line])).dropped).toEqual(['cache_control.ttl'])
  })

  it('names what the channel that accepts the batch does not get', async () => {
    await rig.setOption('RetryTimes', '1')
    const setting = JSON.stringify({ allowed_members: ['container'] })
    const first = { type: 14, baseUrl: `${provider.url}/first`, models: [CLAUDE], priority: 9 }
    await rig.addChannel(5, { ...first, setting })
    provider.answers.set('POST /first/v1/messages/batches', { status: 429, body: { error: {} } })
    const { status, text, dropped } = await submitMessages([message('a', { container: 'x' })])
    expect(status, text).toBe(200)
    expect(provider.requests.map(({ body }) => body.includes('container'))).toEqual([true, false])
    expect(dropped).toEqual(['container'])
  })

  it('is answered with a short header, however many names its lines lose', async () => {
    const lines = Array.from({ length: 60 }, (_, at) =>
      message(`line-${at}`, { mcp_servers: [], [`${PREFIX}${at}`]: 1 }),
    )
    const { status, dropped } = await submitMessages(lines)
    const names = Array.from({ length: 19 }, (_, at) => `${PREFIX}${at}`)
    expect([status, dropped]).toEqual([200, ['mcp_servers', ...names, '(41 more)']])
  })

  it('keeps no long names of its lines', async () => {
    const long = (length: number) => ({ [`${PREFIX}${'x'.repeat(length)}`]: 1 })
    const lines = [message('a', long(200)), message('b', long(300)), message('c', long(3))]
    const { status, dropped } = await submitMessages(lines)
    expect([status, dropped]).toEqual([200, [`${PREFIX}xxx`, '(1 more)']])
  })
})

it('the log of a batch names what the provider did not get, once the batch has ended', async () => {
  await submitMessages([message('a', { service_tier: 'priority' }), message('b')])
  const [admission] = await rig.callEvents()
  if (admission?.type !== 'CallAdmitted') throw new Error('no admission')
  const { call } = admission.data
  const ledger = new BatchLedger({ actors: rig.core.actors, now: () => Date.now() })
  const usage = { ...NO_USAGE, inputUncached: 10, output: 5 }
  await ledger.bill(call, [{ line: 0, part: 0, usage, calls: 1 }])
  await ledger.end(call, 'done')
  const end = (await rig.callEvents()).find(({ type }) => type === 'CallSettled') as CallSettled
  expect(otherOfSettled(end.data).other).toMatchObject({ dropped_members: ['service_tier'] })
})

describe('a batch of Gemini’s API', () => {
  it('names the dropped members and tools of its lines', async () => {
    const { status, text, dropped } = await submitGenerations([
      generation({ tools: [{ googleSearch: {} }] }),
      generation({ labels: { a: 'b' } }),
    ])
    expect(status, text).toBe(200)
    expect(dropped).toEqual(['tools', 'labels'])
  })

  it.each([{ priority: 5 }, { priority: '5' }])('names its priority: %j', async (more) => {
    const { status, dropped } = await submitGenerations([generation()], more)
    expect([status, dropped]).toEqual([200, ['batch.priority']])
    expect(provider.requests[0]?.body).not.toContain('priority')
  })

  it.each([`models/${GEMINI}`, GEMINI, null])('may repeat its model: %s', async (model) => {
    const { status, text, dropped } = await submitGenerations([generation({ model })])
    expect([status, dropped], text).toEqual([200, []])
  })

  it.each([`models/${GEMINI}`, GEMINI, null])('may repeat it for all lines: %s', async (model) => {
    const { status, text, dropped } = await submitGenerations([generation()], { model })
    expect([status, dropped], text).toEqual([200, []])
  })

  it.each(['models/gemini-large', '', 1, {}])('is refused with the model %j', async (model) => {
    const { status, text } = await submitGenerations([generation()], { model })
    expect([status, text]).toEqual([400, expect.stringContaining('batch.model')])
    expect(provider.requests).toEqual([])
  })

  it('is refused if a line names another model than the path', async () => {
    const other = generation({ model: 'models/gemini-large' })
    const { status, text } = await submitGenerations([generation(), other])
    expect(status, text).toBe(400)
    expect(text).toContain('requests[1].request.model')
    expect(provider.requests).toEqual([])
  })
})

describe('a batch of a file', () => {
  it('names the dropped members of its lines when it is submitted', async () => {
    const line = (custom_id: string, more: object) => ({
      ...{ custom_id, method: 'POST', url: CHAT },
      body: { model: GPT, max_completion_tokens: 64, messages, ...more },
    })
    const lines = [
      line('a', { service_tier: 'flex' }),
      line('b', { service_tier: 'flex', web_search_options: {} }),
    ]
    const text = lines.map((one) => `${JSON.stringify(one)}\n`).join('')
    const form = new FormData()
    form.set('purpose', 'batch')
    form.set('file', new Blob([text]), 'lines.jsonl')
    const uploaded = await post('/v1/files', form)
    expect(uploaded.status, uploaded.text).toBe(200)
    provider.answers.set(`GET /v1/files/${FILE}/content`, { body: text })
    const created = await post('/v1/batches', {
      ...{ input_file_id: JSON.parse(uploaded.text).id, endpoint: CHAT },
      completion_window: '24h',
    })
    expect(created.status, created.text).toBe(200)
    expect(created.dropped).toEqual(['service_tier', 'web_search_options'])
    const [admission] = await rig.callEvents()
    if (admission?.type !== 'CallAdmitted') throw new Error('no admission')
    const events = await rig.core.store.readStream(batchStream(admission.data.call))
    const accepted = events.find(({ type }) => type === 'BatchAccepted')
    expect(accepted?.data).toMatchObject({ dropped: ['service_tier', 'web_search_options'] })
  })
})
