import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { channelChecksStream } from '#domain/channel-checks/events.ts'
import type { ChannelTerms } from '#domain/channels/events.ts'
import { createOutbound } from '#infra/outbound/outbound-connections.ts'
import { operatorPolicy } from '#infra/outbound/outbound-policy.ts'
import { NO_ADAPTERS } from '#relay/adapters/read-claude-and-gemini-options.ts'
import { isTestedInRuns } from '#relay/channel-actions/build-test-request.ts'
import {
  CHANNEL_TEST_DEADLINES,
  type ChannelTest,
  testChannel,
} from '#relay/channel-actions/send-channel-test.ts'
import { DEFAULT_DEADLINES, DeadlineTimer } from '#relay/pipeline/call-deadlines-and-timer.ts'
import { providerTarget } from '#relay/providers/profiles/provider-target.ts'
import type { RelayChannel } from '#relay/views/channel-view.ts'
import { channelRules } from '#relay/views/parse-channel-rules.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { awsChunk } from '../support/aws-event-stream.ts'
import { PROVIDER_KEY, type RelayRig, relayRig } from '../support/relay-rig.ts'
import { type ScriptedProvider, scriptedProvider } from '../support/scripted-provider.ts'
import { serviceAccountFile } from '../support/service-account.ts'

let rig: RelayRig
let scripted: ScriptedProvider
const policy = operatorPolicy({ port: 3000, isLoopback: true, privateUpstreams: [] })
const limits = { ...DEFAULT_DEADLINES, connectTimeoutMs: 2_000, headersTimeoutMs: 0 }
const outbound = createOutbound(policy, { ...limits, bodyTimeoutMs: 0, maxResponseBytes: -1 })
const timer = new DeadlineTimer()
let ids = 100

beforeAll(async () => {
  rig = await relayRig()
  scripted = await scriptedProvider()
})
afterAll(async () => {
  timer.close()
  await outbound.close()
  await scripted.close()
  await rig.close()
})

function channel(terms: Partial<ChannelTerms> = {}, key = PROVIDER_KEY): RelayChannel {
  ids += 1
  const all = { ...PLAIN_CHANNEL_TERMS, baseUrl: rig.provider.url, ...terms }
  const target = providerTarget(all, key, policy)
  const keys = target === null ? [] : [{ keyRef: 'ref', target }]
  return {
    channelId: ids,
    terms: all,
    ...{ keyRefs: ['ref'], keyMode: '', setAside: [], allKeys: keys, keys },
    ...{ status: 'disabled', isEnabled: false },
    target,
    proxy: null,
    rules: channelRules(all),
  }
}

async function test(
  probed: RelayChannel,
  probe: Partial<ChannelTest> = {},
  deadlines = CHANNEL_TEST_DEADLINES,
) {
  const views = { options: { options: { adapters: NO_ADAPTERS } } }
  const parts = { actors: rig.core.actors, now: Date.now, outbound, timer, views }
  const why = { actor: 'user:1', cause: 'req-1' }
  const result = await testChannel(parts, { channel: probed, ...why, ...probe }, deadlines)
  const events = await rig.core.store.readStream(channelChecksStream(probed.channelId))
  return { result, events }
}

const USAGE = { prompt_tokens: 1, total_tokens: 1 }

describe('channel test of a model without chats', () => {
  it.each([
    [1, 'text-embedding-3-small', '/v1/embeddings', { data: [], usage: USAGE }],
    [8, 'bge-m3', '/v1/embeddings', { data: [], usage: USAGE }],
    [38, 'jina-reranker-v3', '/v1/rerank', { results: [], usage: USAGE }],
    [38, 'jina-unknown', '/v1/embeddings', { data: [], usage: USAGE }],
    [40, 'BAAI/bge-reranker-v2-m3', '/v1/rerank', { results: [], usage: USAGE }],
    [34, 'rerank-v3.5', '/v1/rerank', { results: [] }],
    [1, 'omni-moderation-latest', '/v1/moderations', { results: [{ flagged: false }] }],
    [24, 'gemini-embedding-001', '/v1beta/openai/embeddings', { data: [], usage: USAGE }],
    [1, 'dall-e-3', '/v1/images/generations', { data: [{ url: 'https://a.example/1.png' }] }],
    [
      40,
      'Kwai-Kolors/Kolors',
      '/v1/images/generations',
      { images: [{ url: 'https://a.example' }] },
    ],
  ])('of type %s sends %s to %s', async (type, model, path, body) => {
    scripted.requests.length = 0
    scripted.answers.set(`POST ${path}`, { body })
    const { result } = await test(channel({ type, baseUrl: scripted.url, models: [model] }))
    expect(result).toMatchObject({ isSuccess: true, model })
    expect(scripted.requests).toMatchObject([{ path }])
    expect(JSON.parse(scripted.requests[0]?.body ?? '')).toMatchObject({ model })
  })

  it('generates the cheapest image of a model', async () => {
    scripted.answers.set('POST /v1/images/generations', { body: { data: [{ b64_json: 'QQ==' }] } })
    const { result } = await test(channel({ baseUrl: scripted.url, models: ['gpt-image-1'] }))
    expect(result).toMatchObject({ isSuccess: true, reason: '' })
    expect(JSON.parse(scripted.requests.at(-1)?.body ?? '')).toEqual({
      ...{ model: 'gpt-image-1', prompt: 'a dot', quality: 'low', size: '1024x1024' },
    })
  })

  it.each([
    ['audio/mpeg', 'ID3 and some audio', ''],
    ['audio/mpeg', '', 'cut'],
    ['application/json', '{}', 'format'],
  ])('makes a short speech; %s with "%s" has the reason "%s"', async (type, body, reason) => {
    const answer = { headers: { 'content-type': type }, body }
    scripted.answers.set('POST /v1/audio/speech', answer)
    const { result } = await test(channel({ baseUrl: scripted.url, models: ['tts-1'] }))
    expect(result).toMatchObject({ isSuccess: reason === '', reason })
  })

  it.each([
    [17, 'wan2.2-t2i-flash', 'costs-task'],
    [56, 'black-forest-labs/flux-schnell', 'costs-task'],
    [1, 'sora-2', 'costs-task'],
    [1, 'whisper-1', 'needs-file'],
    [1, 'gpt-realtime', 'needs-socket'],
    [8, 'gpt-4o-mini-realtime-preview', 'needs-socket'],
    [3, 'gpt-realtime-mini', 'needs-socket'],
    [17, 'wan2.6-image', 'needs-file'],
    [17, 'wan2.5-i2i-preview', 'needs-file'],
  ])('of type %s sends nothing for %s and says why: %s', async (type, model, reason) => {
    scripted.requests.length = 0
    const { result, events } = await test(channel({ type, baseUrl: scripted.url, models: [model] }))
    expect(result).toMatchObject({ isSuccess: false, reason, position: null })
    expect([events, scripted.requests]).toEqual([[], []])
  })

  it.each([
    ['sim-small', true],
    ['text-embedding-3-small', true],
    ['tts-1', true],
    ['dall-e-3', false],
    ['sora-2', false],
    ['whisper-1', false],
    ['gpt-realtime', false],
  ])('of %s is part of the tests of all channels: %s', (model, isTested) => {
    expect(isTestedInRuns(channel({ models: [model] }))).toBe(isTested)
  })
})

describe('channel test', () => {
  it('sends one small chat and records its result with the provider’s usage', async () => {
    const probed = channel()
    const { result, events } = await test(probed)
    expect(result).toMatchObject({ isSuccess: true, model: 'sim-small', reason: '', end: null })
    expect(events).toMatchObject([
      {
        type: 'ChannelTested',
        position: result.position,
        meta: { actor: 'user:1', cause: 'req-1' },
        data: {
          channelId: probed.channelId,
          model: 'sim-small',
          isSuccess: true,
          durationMs: result.durationMs,
          reason: '',
          run: null,
        },
      },
    ])
    expect(events[0]?.data).toHaveProperty('usage.input', expect.any(Number))
    const [entry] = rig.provider.journal.entries
    expect(events[0]?.data).toHaveProperty('usage.output', entry?.completionTokens)
  })

  it('sends a streamed chat where the caller asks for a stream', async () => {
    const before = rig.provider.journal.entries.length
    const { result } = await test(channel(), { isStream: true })
    expect(result).toMatchObject({ isSuccess: true, reason: '' })
    expect(rig.provider.journal.entries.slice(before)).toMatchObject([{ isStream: true }])
  })

  it('asks for the test model, else the first model, by its mapped name', async () => {
    const names = { models: ['sim-large'], testModel: 'tester', modelPrefix: 'p/' }
    const mapped = { ...names, modelMapping: '{"tester":"sim-small"}' }
    expect((await test(channel(mapped))).result.model).toBe('tester')
    expect(rig.provider.journal.entries.at(-1)?.model).toBe('sim-small')
    expect((await test(channel({ ...names, testModel: '' }))).result.model).toBe('sim-large')
    expect(rig.provider.journal.entries.at(-1)?.model).toBe('sim-large')
  })

  it.each([
    ['tester-2026-01-01', false, null],
    ['tester-large', false, 'tester-large'],
    ['tester-large', true, 'tester-large'],
    [undefined, false, null],
    [undefined, true, null],
  ])('answered by the model %s (streamed: %s) reports as other model: %s', async (...row) => {
    const [model, isStream, otherModel] = row
    const choices = [{ delta: { content: 'hi' }, message: { content: 'hi' } }]
    const body = JSON.stringify({ model, choices })
    const headers = { 'content-type': 'text/event-stream' }
    const pieces = [Buffer.from(`data: ${body}\n\ndata: [DONE]\n\n`)]
    scripted.answers.set('*', isStream ? { headers, pieces } : { body })
    const probed = channel({ baseUrl: scripted.url, testModel: 'tester' })
    const { result } = await test(probed, { isStream })
    expect(result).toMatchObject({ isSuccess: true, reason: '', otherModel })
  })

  it.each([
    ['gpt-4o', 'max_tokens'],
    ['o3-mini', 'max_completion_tokens'],
    ['openai/gpt-5-nano', 'max_completion_tokens'],
    ['qwen-o1', 'max_tokens'],
  ])('of the model %s sends its output limit as %s', async (model, name) => {
    scripted.answers.set('*', { body: { choices: [{ message: { content: 'hi' } }] } })
    await test(channel({ baseUrl: scripted.url }), { model })
    const body = JSON.parse(scripted.requests.at(-1)?.body ?? '{}') as object
    expect(body).toEqual({ model, messages: [{ role: 'user', content: 'hi' }], [name]: 16 })
  })
})

describe('failed channel test', () => {
  it.each([
    ['fault-status-500', 'status-500'],
    ['fault-status-401', 'status-401'],
    ['fault-status-429', 'status-429'],
    ['fault-html', 'format'],
    ['fault-reset', 'cut'],
  ])('of %s has the reason %s', async (model, reason) => {
    const { result, events } = await test(channel(), { model })
    expect(result).toMatchObject({ isSuccess: false, reason, model })
    expect(events.at(-1)?.data).toMatchObject({ isSuccess: false, reason, usage: null })
  })

  it.each([
    ['fault-error', 'error-event'],
    ['fault-cut-2', 'cut'],
    ['fault-nodone', 'cut'],
  ])('of a stream with %s has the reason %s', async (model, reason) => {
    const { result } = await test(channel(), { model, isStream: true })
    expect(result).toMatchObject({ isSuccess: false, reason })
  })

  it('takes its reason from the provider’s error code rather than the status', async () => {
    const body = { error: { message: 'You exceeded', code: 'insufficient_quota' } }
    scripted.answers.set('*', { status: 429, body })
    const { result, events } = await test(channel({ baseUrl: scripted.url }))
    expect(result.reason).toBe('insufficient_quota')
    expect(JSON.stringify(events)).not.toContain('exceeded')
  })

  it('includes a stream that ends without any content', async () => {
    const headers = { 'content-type': 'text/event-stream' }
    scripted.answers.set('*', { headers, pieces: [Buffer.from('data: [DONE]\n\n')] })
    const { result } = await test(channel({ baseUrl: scripted.url }), { isStream: true })
    expect(result).toMatchObject({ isSuccess: false, reason: 'no-result' })
  })

  it('ends at the deadline when the provider does not answer', async () => {
    scripted.answers.set('*', { hangs: true })
    const short = { ...CHANNEL_TEST_DEADLINES, firstEventMs: 200 }
    const { result } = await test(channel({ baseUrl: scripted.url }), {}, short)
    expect(result).toMatchObject({ isSuccess: false, reason: 'timeout' })
  })

  it('has the reason connect when nothing listens at the address', async () => {
    const { result } = await test(channel({ baseUrl: 'http://127.0.0.1:1' }))
    expect(result).toMatchObject({ isSuccess: false, reason: 'connect' })
  })
})

describe('channel test of Gemini', () => {
  const model = 'gemini-3.8-flash'
  const body = {
    candidates: [{ content: { parts: [{ text: 'hi' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 2, candidatesTokenCount: 1, totalTokenCount: 3 },
    modelVersion: model,
  }
  const probed = () => channel({ type: 24, baseUrl: scripted.url, models: [model] })

  it.each([false, true])('sends one small request; as a stream: %s', async (isStream) => {
    const method = isStream ? 'streamGenerateContent' : 'generateContent'
    const pieces = [Buffer.from(`data: ${JSON.stringify(body)}\n\n`)]
    const headers = { 'content-type': 'text/event-stream' }
    const answer = isStream ? { headers, pieces } : { body }
    scripted.answers.set(`POST /v1beta/models/${model}:${method}`, answer)
    const { result, events } = await test(probed(), { isStream })
    expect(result).toMatchObject({ isSuccess: true, model, otherModel: null })
    expect(events).toMatchObject([{ data: { usage: { input: 2, output: 1 } } }])
    expect(JSON.parse(scripted.requests.at(-1)?.body ?? '')).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      generationConfig: { maxOutputTokens: 16 },
    })
  })

  it('finds an invalid key behind the status 400', async () => {
    const error = { code: 400, message: 'x', details: [{ reason: 'API_KEY_INVALID' }] }
    const path = `POST /v1beta/models/${model}:generateContent`
    scripted.answers.set(path, { status: 400, body: { error } })
    const { result } = await test(probed())
    expect(result).toMatchObject({ isSuccess: false, reason: 'invalid_api_key' })
  })
})

describe('channel test of a cloud', () => {
  const model = 'claude-haiku-4-5'
  const usage = { input_tokens: 7, output_tokens: 3 }
  const content = [{ type: 'text', text: 'Hello.' }]
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model, content, usage }
  const begun = { type: 'message_start', message: { ...message, content: [] } }
  const ending = [
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
    { type: 'message_stop' },
  ]

  it('signs a request to Bedrock and reads its binary stream', async () => {
    const terms = { type: 33, baseUrl: scripted.url, models: [model] }
    const probed = channel(terms, 'AKIDEXAMPLE|secret|us-east-1')
    const path = 'POST /model/us.anthropic.claude-haiku-4-5-20251001-v1%3A0/invoke'
    scripted.answers.set(path, { body: message })
    scripted.answers.set(`${path}-with-response-stream`, {
      headers: { 'content-type': 'application/vnd.amazon.eventstream' },
      pieces: [begun, ...ending].map(awsChunk),
    })
    for (const isStream of [false, true]) {
      const { result, events } = await test(probed, { isStream })
      expect(result).toMatchObject({ isSuccess: true, reason: '', otherModel: null })
      expect(events.at(-1)?.data).toMatchObject({ usage: { input: 7, output: 3 } })
      const { headers } = scripted.requests.at(-1) ?? {}
      expect(headers?.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\//)
    }
  })

  it('requests a token for Vertex AI, and reports a refused key', async () => {
    const terms = { type: 41, baseUrl: scripted.url, models: [model], other: 'us-east5' }
    const probed = channel(terms, serviceAccountFile({ token_uri: `${scripted.url}/token` }))
    scripted.answers.set('POST /token', { body: { access_token: 'token-1', expires_in: 3600 } })
    const models =
      '/v1/projects/planted-project-4711/locations/us-east5/publishers/anthropic/models'
    scripted.answers.set(`POST ${models}/${model}:rawPredict`, { body: message })
    expect((await test(probed)).result).toMatchObject({ isSuccess: true, reason: '' })
    expect(scripted.requests.at(-1)?.headers.authorization).toBe('Bearer token-1')
    scripted.answers.set('POST /token', { status: 400, body: { error: 'invalid_grant' } })
    const other = channel(terms, serviceAccountFile({ token_uri: `${scripted.url}/token` }))
    expect((await test(other)).result).toMatchObject({ isSuccess: false, reason: 'status-401' })
  })
})

describe('channel test that sends and records nothing', () => {
  it('is one of a channel that cannot be called', async () => {
    const { result, events } = await test(channel({ type: 21 }))
    expect(result).toMatchObject({ isSuccess: false, reason: 'no-address', position: null })
    expect(events).toEqual([])
  })

  it('is one of an invalid model name', async () => {
    const { result, events } = await test(channel(), { model: 'a\u0000b' })
    expect(result).toMatchObject({ isSuccess: false, reason: 'no-request' })
    expect(events).toEqual([])
  })

  it('is one whose request is already cancelled', async () => {
    scripted.answers.set('*', { hangs: true })
    const gone = { signal: AbortSignal.abort() }
    const { result, events } = await test(channel({ baseUrl: scripted.url }), gone)
    expect(result).toMatchObject({ isSuccess: false, reason: 'draining', position: null })
    expect(events).toEqual([])
  })
})
