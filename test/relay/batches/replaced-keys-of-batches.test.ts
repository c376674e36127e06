import { beforeEach, describe, expect, it, vi } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { StoreUnavailable } from '#infra/event-store/port.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, PROVIDER_KEY, relayRig } from '../support/relay-rig.ts'
import { scriptedProvider } from '../support/scripted-provider.ts'

const CHANNEL = 2
const MODEL = 'lab-model'
const NEW_KEY = 'sk-rotated-secret-0123456789'
const GRANTED = 1_000_000_000n
const HOUR = 3_600_000
const MESSAGES = [{ role: 'user', content: 'Hi' }]
const provider = startedForEach(scriptedProvider)
let laterMs = 0
const rig = startedForEach(() =>
  relayRig({ batchPollEveryMs: HOUR }, {}, undefined, { now: () => Date.now() + laterMs }),
)

type Api = {
  readonly type: number
  readonly submit: () => Promise<string>
  /** The paths of the batch here, by the id that `submit` returned. */
  readonly paths: (id: string) => { readonly batch: string; readonly cancel: string }
  readonly upstream: { readonly batch: string; readonly cancel: string }
  readonly describeAs: (isEnded: boolean) => void
  // biome-ignore lint/suspicious/noExplicitAny: descriptions of several APIs
  readonly statusIn: (description: any) => string
  /** Returns the results as the caller reads them. */
  readonly results: (id: string) => Promise<string>
}

async function call(method: string, path: string, body?: unknown) {
  const isForm = body instanceof FormData
  const response = await fetch(`${rig.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer sk-${KEY}`,
      ...(isForm ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, text, json: () => JSON.parse(text) }
}
async function ok(method: string, path: string, body?: unknown) {
  const answer = await call(method, path, body)
  expect(answer.status, answer.text).toBe(200)
  return answer
}
const answers = (request: string, body: unknown) => provider.answers.set(request, { body })

const openai: Api = {
  type: 1,
  submit: async () => {
    const body = { model: MODEL, max_completion_tokens: 64, messages: MESSAGES }
    const line = { custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body }
    const form = new FormData()
    form.set('purpose', 'batch')
    form.set('file', new Blob([`${JSON.stringify(line)}\n`]), 'lines.jsonl')
    answers('POST /v1/files', { id: 'file-in' })
    answers('GET /v1/files/file-in/content', `${JSON.stringify(line)}\n`)
    const file = (await ok('POST', '/v1/files', form)).json().id
    const request = { input_file_id: file, endpoint: line.url, completion_window: '24h' }
    return (await ok('POST', '/v1/batches', request)).json().id
  },
  paths: (id) => ({ batch: `/v1/batches/${id}`, cancel: `/v1/batches/${id}/cancel` }),
  upstream: { batch: '/v1/batches/batch_1', cancel: '/v1/batches/batch_1/cancel' },
  describeAs: (isEnded) => {
    const ended = isEnded ? { output_file_id: 'file-out', completed_at: 1_795_000_100 } : {}
    const status = isEnded ? 'completed' : 'in_progress'
    const counts = { total: 1, completed: 1, failed: 0 }
    const batch = { id: 'batch_1', object: 'batch', status, input_file_id: 'file-in', ...ended }
    const body = { ...batch, created_at: 1_795_000_000, request_counts: counts }
    answers('POST /v1/batches', body)
    answers('GET /v1/batches/batch_1', body)
    answers('POST /v1/batches/batch_1/cancel', body)
    const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello.' } }]
    const response = { status_code: 200, body: { model: MODEL, choices, usage } }
    answers('GET /v1/files/file-out/content', JSON.stringify({ custom_id: 'a', response }))
  },
  statusIn: ({ status }) => status,
  results: async (id) => {
    const { output_file_id } = (await ok('GET', `/v1/batches/${id}`)).json()
    return (await ok('GET', `/v1/files/${output_file_id}/content`)).text
  },
}

const ANTHROPIC = '/v1/messages/batches'
const anthropic: Api = {
  type: 14,
  submit: async () => {
    const params = { model: MODEL, max_tokens: 64, messages: MESSAGES }
    const body = { requests: [{ custom_id: 'a', params }] }
    return (await ok('POST', ANTHROPIC, body)).json().id
  },
  paths: (id) => ({ batch: `${ANTHROPIC}/${id}`, cancel: `${ANTHROPIC}/${id}/cancel` }),
  upstream: { batch: `${ANTHROPIC}/msgbatch_1`, cancel: `${ANTHROPIC}/msgbatch_1/cancel` },
  describeAs: (isEnded) => {
    const body = {
      ...{ id: 'msgbatch_1', processing_status: isEnded ? 'ended' : 'in_progress' },
      request_counts: { processing: 0, succeeded: 1, errored: 0, canceled: 0, expired: 0 },
      ...{ created_at: '2026-11-28T00:00:00Z', results_url: isEnded ? 'https://x' : null },
      ended_at: isEnded ? '2026-11-28T01:00:00Z' : null,
    }
    answers(`POST ${ANTHROPIC}`, body)
    answers(`GET ${ANTHROPIC}/msgbatch_1`, body)
    answers(`POST ${ANTHROPIC}/msgbatch_1/cancel`, body)
    const usage = { input_tokens: 100, output_tokens: 10 }
    const content = [{ type: 'text', text: 'Hello.' }]
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: MODEL }
    const result = { type: 'succeeded', message: { ...message, content, usage } }
    answers(`GET ${ANTHROPIC}/msgbatch_1/results`, JSON.stringify({ custom_id: 'a', result }))
  },
  statusIn: ({ processing_status }) => processing_status,
  results: async (id) => (await ok('GET', `${ANTHROPIC}/${id}/results`)).text,
}

const GEMINI = '/v1beta/batches'
const gemini: Api = {
  type: 24,
  submit: async () => {
    const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
    const request = { contents, generationConfig: { maxOutputTokens: 64 } }
    const requests = [{ request, metadata: { key: 'a' } }]
    const body = { batch: { display_name: 'x', input_config: { requests: { requests } } } }
    const path = `/v1beta/models/${MODEL}:batchGenerateContent`
    return (await ok('POST', path, body)).json().name.split('/')[1]
  },
  paths: (id) => ({ batch: `${GEMINI}/${id}`, cancel: `${GEMINI}/${id}:cancel` }),
  upstream: { batch: `${GEMINI}/provider1`, cancel: `${GEMINI}/provider1:cancel` },
  describeAs: (isEnded) => {
    const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 10 }
    const candidates = [{ content: { parts: [{ text: 'Hello.' }] }, finishReason: 'STOP' }]
    const result = { response: { candidates, usageMetadata }, metadata: { key: 'a' } }
    const output = isEnded ? { inlinedResponses: { inlinedResponses: [result] } } : {}
    const state = `BATCH_STATE_${isEnded ? 'SUCCEEDED' : 'RUNNING'}`
    const metadata = { state, createTime: '2026-11-28T00:00:00Z', output }
    const ended = isEnded ? { done: true, response: output } : {}
    const body = { name: 'batches/provider1', metadata, ...ended }
    answers(`POST /v1beta/models/${MODEL}:batchGenerateContent`, body)
    answers(`GET ${GEMINI}/provider1`, body)
    answers(`POST ${GEMINI}/provider1:cancel`, {})
  },
  statusIn: ({ metadata }) => metadata.state,
  results: async (id) => (await ok('GET', `${GEMINI}/${id}`)).text,
}

const terms = ({ type }: Api) => ({ type, baseUrl: provider.url, models: [MODEL] })
const replaceKeys = (api: Api, keys: readonly string[]) =>
  rig.append(CHANNELS_STREAM, {
    type: 'ChannelTermsChanged',
    v: 1,
    data: {
      ...{ channelId: CHANNEL, terms: { ...PLAIN_CHANNEL_TERMS, ...terms(api) } },
      ...{ keyRefs: keys.map((key) => `key:${key}`), keyMode: keys.length > 1 ? 'random' : '' },
      droppedKeyRefs: [`ref-${CHANNEL}`],
    },
  })
const deleteChannels = (...channelIds: number[]) =>
  rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds } })
const ends = async () => (await rig.callEvents()).filter(({ type }) => type !== 'CallAdmitted')
const keysSentSince = (count: number) =>
  provider.requests.slice(count).map(({ headers }) => {
    const { authorization, 'x-api-key': own, 'x-goog-api-key': google } = headers
    return String(authorization ?? own ?? google).replace('Bearer ', '')
  })

beforeEach(() => {
  laterMs = 0
})

describe.each([
  ['OpenAI', openai],
  ['Anthropic', anthropic],
  ['Gemini', gemini],
])('a batch in the API of %s', (_name, api) => {
  const submit = async (): Promise<string> => {
    await deleteChannels(1)
    await rig.addChannel(CHANNEL, terms(api))
    await rig.setOption('ModelRatio', { [MODEL]: 1.5 })
    await rig.setOption('CompletionRatio', { [MODEL]: 5 })
    api.describeAs(false)
    return api.submit()
  }

  it('is canceled, billed and read with the key that replaced its own one', async () => {
    const id = await submit()
    const { batch, cancel } = api.paths(id)
    await replaceKeys(api, [NEW_KEY])
    const sent = provider.requests.length
    await ok('POST', cancel)
    api.describeAs(true)
    await ok('GET', batch)
    // (100 + 10 · 5) · 1.5 / 2 = 112.5
    await expect.poll(ends).toMatchObject([{ type: 'CallSettled', data: { charge: 113 } }])
    expect(await rig.balance()).toBe(GRANTED - 113n)
    expect(await api.results(id)).toContain('Hello.')
    expect(new Set(keysSentSince(sent))).toEqual(new Set([NEW_KEY]))
  })

  it('has results that the key of another account can’t read, which the error says', async () => {
    const id = await submit()
    api.describeAs(true)
    await ok('GET', api.paths(id).batch)
    await replaceKeys(api, [NEW_KEY])
    const { batch } = api.upstream
    for (const path of [batch, `${batch}/results`, '/v1/files/file-out/content']) {
      provider.answers.set(`GET ${path}`, { status: 404, body: {} })
    }
    await expect(api.results(id)).rejects.toThrow('409')
  })

  it('is not given up because the key of another account does not know it', async () => {
    const id = await submit()
    const { batch, cancel } = api.paths(id)
    await replaceKeys(api, [NEW_KEY])
    laterMs = HOUR
    for (const request of [`GET ${api.upstream.batch}`, `POST ${api.upstream.cancel}`]) {
      provider.answers.set(request, { status: 404, body: {} })
    }
    await ok('GET', batch)
    const denied = await call('POST', cancel)
    expect([denied.status, denied.text]).toEqual([409, expect.stringContaining(id)])
    expect(await ends()).toEqual([])
    await replaceKeys(api, [PROVIDER_KEY, NEW_KEY])
    laterMs += HOUR
    api.describeAs(true)
    await ok('GET', batch)
    await expect.poll(ends).toMatchObject([{ type: 'CallSettled', data: { charge: 113 } }])
  })

  it('is deleted here although the key of another account may not delete it', async () => {
    if (api === openai) return
    const id = await submit()
    api.describeAs(true)
    await ok('GET', api.paths(id).batch)
    await expect.poll(ends).toMatchObject([{ type: 'CallSettled' }])
    const refusal = { status: 403, body: {} }
    provider.answers.set(`DELETE ${api.upstream.batch}`, refusal)
    expect((await call('DELETE', api.paths(id).batch)).status).toBe(502)
    await replaceKeys(api, [NEW_KEY])
    await expect.poll(async () => (await call('DELETE', api.paths(id).batch)).status).toBe(200)
    expect((await call('GET', api.paths(id).batch)).status).toBe(404)
  })

  it('is not sent to a channel that was disabled after its lines were held', async () => {
    await submit()
    const { actors } = rig.core
    const { handleTogether } = actors
    vi.spyOn(actors, 'handleTogether').mockImplementationOnce(async (...steps) => {
      const outcome = await handleTogether(...steps)
      const data = { channelIds: [CHANNEL], tag: null }
      await rig.append(CHANNELS_STREAM, { type: 'ChannelsDisabled', v: 1, data })
      return outcome
    })
    const balance = await rig.balance()
    await expect(api.submit()).rejects.toThrow('503')
    expect(await rig.balance()).toBe(balance)
    expect(await ends()).toMatchObject([{ data: { errorCode: 'batch_refused' } }])
  })

  it('is released and answered with 503 if the event store fails before it is sent', async () => {
    await submit()
    const balance = await rig.balance()
    const { actors } = rig.core
    const { handleTogether } = actors
    vi.spyOn(actors, 'handleTogether').mockImplementationOnce(async (...steps) => {
      const outcome = await handleTogether(...steps)
      vi.spyOn(actors, 'ask').mockRejectedValueOnce(new StoreUnavailable('away'))
      return outcome
    })
    await expect(api.submit()).rejects.toThrow('503')
    expect(await rig.balance()).toBe(balance)
    expect(await ends()).toMatchObject([{ data: { errorCode: 'batch_refused' } }])
  })

  it('can’t be canceled after its channel was deleted, which the error says', async () => {
    const id = await submit()
    await deleteChannels(CHANNEL)
    const answer = await call('POST', api.paths(id).cancel)
    expect(answer.status, answer.text).toBe(409)
    expect(answer.text).toContain(id)
  })

  it('ends after the deletion of its channel: nothing is held, and callers read why', async () => {
    const id = await submit()
    expect(await rig.balance()).toBeLessThan(GRANTED)
    await deleteChannels(CHANNEL)
    const { text, json } = await ok('GET', api.paths(id).batch)
    expect(text).toContain('was deleted')
    expect(api.statusIn(json())).toMatch(/failed|ended|BATCH_STATE_FAILED/)
    const released = { type: 'CallReleased', data: { errorCode: 'batch_channel_deleted' } }
    expect(await ends()).toMatchObject([released])
    expect(await rig.balance()).toBe(GRANTED)
  })
})

it('a file is submitted, read and deleted with the key that replaced its own one', async () => {
  await deleteChannels(1)
  await rig.addChannel(CHANNEL, terms(openai))
  await rig.setOption('ModelRatio', { [MODEL]: 1.5 })
  openai.describeAs(false)
  const id = await openai.submit()
  const { input_file_id: file } = (await ok('GET', `/v1/batches/${id}`)).json()
  await replaceKeys(openai, [NEW_KEY])
  const sent = provider.requests.length
  expect((await ok('GET', `/v1/files/${file}/content`)).text).toContain('"custom_id":"a"')
  const endpoint = '/v1/chat/completions'
  await ok('POST', '/v1/batches', { input_file_id: file, endpoint, completion_window: '24h' })
  answers('DELETE /v1/files/file-in', { deleted: true })
  await ok('DELETE', `/v1/files/${file}`)
  expect(new Set(keysSentSince(sent))).toEqual(new Set([NEW_KEY]))
  const methods = provider.requests.slice(sent).map(({ method }) => method)
  expect(methods).toEqual(['GET', 'GET', 'POST', 'POST', 'DELETE'])
})

it('a file of another account is refused with the reason, and can be deleted here', async () => {
  await deleteChannels(1)
  await rig.addChannel(CHANNEL, terms(openai))
  await rig.setOption('ModelRatio', { [MODEL]: 1.5 })
  openai.describeAs(false)
  const id = await openai.submit()
  const { input_file_id: file } = (await ok('GET', `/v1/batches/${id}`)).json()
  await replaceKeys(openai, [NEW_KEY])
  for (const status of [401, 404]) {
    provider.answers.set('GET /v1/files/file-in/content', { status, body: {} })
    const submission = { endpoint: '/v1/chat/completions', completion_window: '24h' }
    const refused = [
      await call('GET', `/v1/files/${file}/content`),
      await call('POST', '/v1/batches', { input_file_id: file, ...submission }),
    ]
    for (const answer of refused) {
      expect([answer.status, answer.json().error.code]).toEqual([409, 'key_replaced'])
    }
  }
  provider.answers.set('DELETE /v1/files/file-in', { status: 404, body: {} })
  await ok('DELETE', `/v1/files/${file}`)
})
