import Anthropic from '@anthropic-ai/sdk'
import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { ANTHROPIC_MESSAGES } from '#relay/dialects/anthropic-messages/messages-format.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, PROVIDER_KEY, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const MODEL = 'claude-sonnet-5-5'
const PATH = 'POST /v1/messages'
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  const setting = '{"allowed_members":["cache_control.ttl"]}'
  await rig.addChannel(2, { type: 14, baseUrl: provider.url, models: [MODEL], setting })
  await rig.setOption('ModelRatio', { [MODEL]: 1.5 })
  await rig.setOption('CompletionRatio', { [MODEL]: 5 })
  await rig.setOption('CacheRatio', { [MODEL]: 0.1 })
  await rig.setOption('CreateCacheRatio', { [MODEL]: 1.25 })
})

/** As Claude Code sends it: a system list with cache marks, tools, a result with a picture. */
const REQUEST = {
  model: MODEL,
  max_tokens: 64,
  system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
  messages: [
    { role: 'user', content: 'Read a.txt' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'The file comes first.', signature: 'c2ln' },
        { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { path: 'a.txt' } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          content: [{ type: 'text', text: 'hello' }],
          cache_control: { type: 'ephemeral' },
        },
      ],
    },
  ],
  tools: [{ name: 'Read', description: 'Reads a file', input_schema: { type: 'object' } }],
  thinking: { type: 'enabled', budget_tokens: 32 },
  metadata: { user_id: 'session_1' },
}

const USAGE = {
  input_tokens: 100,
  cache_read_input_tokens: 2000,
  cache_creation_input_tokens: 500,
  cache_creation: { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 100 },
  output_tokens: 50,
}
/** The worked case of `billing.md` for this usage. */
const CHARGE = 1875

const ANSWER = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: MODEL,
  content: [{ type: 'text', text: 'It says hello.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: USAGE,
}

const event = (data: { readonly type: string } & Record<string, unknown>): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const delta = (text: string) =>
  event({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text },
  })
const BEGUN = event({
  type: 'message_start',
  message: { ...ANSWER, content: [], stop_reason: null, usage: { ...USAGE, output_tokens: 1 } },
})
const ENDING = event({
  type: 'message_delta',
  delta: { stop_reason: 'end_turn', stop_sequence: null },
  usage: { output_tokens: 50 },
})
const STREAM = [
  BEGUN,
  event({ type: 'ping' }),
  event({
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'text', text: '' },
  }),
  delta('It says '),
  delta('"message_stop".'),
  event({ type: 'content_block_stop', index: 0 }),
  ENDING,
  event({ type: 'message_stop' }),
].join('')

const answerWith = (pieces: readonly Buffer[], type = 'text/event-stream') =>
  provider.answers.set(PATH, { headers: { 'content-type': type }, pieces })

type Sent = { readonly body?: object; readonly headers?: Record<string, string>; path?: string }

async function send({ body = REQUEST, headers = {}, path = '/v1/messages?beta=true' }: Sent = {}) {
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': `sk-${KEY}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, text, headers: response.headers }
}

describe('a call of the Messages API', () => {
  it('the provider gets the bytes and the Anthropic headers of the caller', async () => {
    provider.answers.set(PATH, { body: ANSWER })
    const { status, text } = await send({
      headers: {
        'anthropic-version': '2023-06-01',
        'anthropic-beta': 'interleaved-thinking-2025-05-14,context-1m-2025-08-07',
        cookie: 'a=b',
        'x-claude-code-session-id': 'session',
      },
    })
    expect(status).toBe(200)
    expect(text).toBe(JSON.stringify(ANSWER))
    const [request] = provider.requests
    expect(request?.body).toBe(JSON.stringify(REQUEST))
    expect(request?.path).toBe('/v1/messages')
    expect(request?.headers).toMatchObject({
      'x-api-key': PROVIDER_KEY,
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'interleaved-thinking-2025-05-14',
    })
    for (const name of ['authorization', 'cookie', 'x-claude-code-session-id']) {
      expect(request?.headers).not.toHaveProperty(name)
    }
  })

  it('is billed by its usage, with each lifetime of the cache at its own price', async () => {
    provider.answers.set(PATH, { body: ANSWER })
    const before = await rig.balance()
    await send()
    const { data } = await onlyEnd(rig)
    expect(data).toMatchObject({
      charge: CHARGE,
      formats: ['messages'],
      usageSource: 'upstream',
      anomaly: null,
      end: 'done',
      usage: {
        inputUncached: 100,
        cacheRead: 2000,
        cacheWrite5m: 400,
        cacheWrite1h: 100,
        output: 50,
      },
    })
    expect(before - (await rig.balance())).toBe(BigInt(CHARGE))
  })

  it('writes without a split count at the dearer price if the request uses the hour', async () => {
    const { cache_creation: _, ...usage } = USAGE
    provider.answers.set(PATH, { body: { ...ANSWER, usage } })
    await send()
    expect((await onlyEnd(rig)).data).toMatchObject({ usage: { cacheWrite1h: 500 } })
  })

  it.each([
    ['negative', { ...USAGE, input_tokens: -5 }, 'negative'],
    ['text', { ...USAGE, output_tokens: '50' }, 'not-a-number'],
    ['missing', { output_tokens: 50 }, 'missing'],
  ])('a usage with a %s count makes the call not cheaper', async (_name, usage, anomaly) => {
    provider.answers.set(PATH, { body: { ...ANSWER, usage } })
    await send()
    const { data } = await onlyEnd(rig)
    expect(data).toMatchObject({ anomaly, usage: { output: 50 } })
    const { inputUncached } = (data as { usage: { inputUncached: number } }).usage
    expect(inputUncached).toBeGreaterThan(20)
  })

  it('a member that raises the price is removed, and the caller is told', async () => {
    provider.answers.set(PATH, { body: ANSWER })
    const { headers } = await send({ body: { ...REQUEST, speed: 'fast', inference_geo: 'us' } })
    expect(headers.get('x-dropped-members')).toBe('speed, inference_geo')
    expect(provider.requests[0]?.body).toBe(JSON.stringify(REQUEST))
  })

  it('edits that clear the context are sent, and a compaction is refused', async () => {
    provider.answers.set(PATH, { body: ANSWER })
    const clearing = [
      { type: 'clear_thinking_20251015', keep: 'all' },
      { type: 'clear_tool_uses_20250919', exclude_tools: ['compact_20260112'] },
    ]
    const body = { ...REQUEST, context_management: { edits: clearing } }
    expect((await send({ body })).status).toBe(200)
    expect(provider.requests[0]?.body).toBe(JSON.stringify(body))
    const edits = [...clearing, { type: 'compact_20260112' }]
    const { status, text } = await send({ body: { ...REQUEST, context_management: { edits } } })
    expect([status, JSON.parse(text)]).toMatchObject([400, { type: 'error' }])
    expect(text).toContain("'context_management' is not supported here")
    expect(provider.requests).toHaveLength(1)
  })

  it.each([
    '{"edits":[{"type":"\\u0063ompact_20260112"}]}',
    '{"edits":[{"typ\\u0065":"compact_20260112"}]}',
    '{"edits":[{"type":"compact_20260112","type":"clear_thinking_20251015"}]}',
    '{"edits":[{"type":"clear_thinking_20251015","Type":"compact_20260112"}]}',
    '{"edits":[{"type":"compact_20260112"}],"edits":[]}',
    '{"edits":[],"Edits":[{"type":"compact_20260112"}]}',
    '{"edits":[["compact_20260112"],{"type":"compact_20260112"}]}',
    '{"edits":{"type":"compact_20260112"}}',
  ])('a compaction in %s is refused', (context) => {
    const body = JSON.stringify({ ...REQUEST, context_management: 0 })
    const text = body.replace('"context_management":0', `"context_management":${context}`)
    const read = ANTHROPIC_MESSAGES.readRequest(Buffer.from(text), null)
    expect(read).toMatchObject({ params: { param: 'context_management' } })
  })

  it('the provider’s tools are removed, and tools that the caller runs are kept', async () => {
    provider.answers.set(PATH, { body: ANSWER })
    const own = [REQUEST.tools[0], { type: 'bash_20250124', name: 'bash' }]
    const search = { type: 'web_search_20250305', name: 'web_search' }
    await send({ body: { ...REQUEST, tools: [...own, search] } })
    expect(JSON.parse(provider.requests[0]?.body ?? '')).toMatchObject({ tools: own })
  })
})

describe('a stream of the Messages API', () => {
  it('is billed with the iterations that its total does not contain', async () => {
    const iterations = [
      { type: 'compaction', input_tokens: 0, output_tokens: 40 },
      { type: 'message', ...USAGE },
    ]
    const usage = { output_tokens: 50, iterations }
    const ending = event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage })
    answerWith([Buffer.from(STREAM.replace(ENDING, ending))])
    await send({ body: { ...REQUEST, stream: true } })
    expect((await onlyEnd(rig)).data).toMatchObject({
      ...{ charge: CHARGE + 40 * 5 * 1.5, usageSource: 'upstream', anomaly: null },
      usage: { cacheRead: 2000, output: 90 },
    })
  })

  it('is forwarded byte for byte and billed the same, split at any byte', async () => {
    const bytes = Buffer.from(STREAM)
    const body = { ...REQUEST, stream: true }
    for (let at = 1; at < bytes.length; at += 7) {
      answerWith([bytes.subarray(0, at), bytes.subarray(at)])
      expect((await send({ body })).text).toBe(STREAM)
    }
    const ends = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
    expect(ends.length).toBeGreaterThan(100)
    for (const { data } of ends) expect(data).toMatchObject({ charge: CHARGE, end: 'done' })
  })

  it('that is cut is billed for its input and for the text that was delivered', async () => {
    answerWith([Buffer.from(BEGUN + delta('It says hello to everybody in the room.'))])
    const { text } = await send({ body: { ...REQUEST, stream: true } })
    expect(text).toContain('event: error\ndata: {"type":"error"')
    const { data } = await onlyEnd(rig)
    expect(data).toMatchObject({ end: 'incomplete', usage: { cacheRead: 2000 } })
    expect((data as { usage: { output: number } }).usage.output).toBeGreaterThan(5)
  })

  it('a later report of zero tokens does not make the call cheaper', async () => {
    const zero = { type: 'message_delta', delta: {}, usage: { input_tokens: 0, output_tokens: 50 } }
    answerWith([Buffer.from(BEGUN + event(zero) + event({ type: 'message_stop' }))])
    await send({ body: { ...REQUEST, stream: true } })
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGE })
  })

  it('an error event ends the call once, without the provider’s key', async () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: PROVIDER_KEY } }
    answerWith([Buffer.from(BEGUN + delta('It ') + event(error))])
    const { text } = await send({ body: { ...REQUEST, stream: true } })
    expect(text).toContain('"type":"overloaded_error"')
    expect(text).not.toContain(PROVIDER_KEY)
    expect(await onlyEnd(rig)).toMatchObject({ data: { end: 'upstream-error' } })
  })

  it('a plain answer to a request for a stream arrives as it is', async () => {
    provider.answers.set(PATH, { body: ANSWER })
    const { text } = await send({ body: { ...REQUEST, stream: true } })
    expect(JSON.parse(text)).toEqual(ANSWER)
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGE })
  })
})

describe('errors of the Messages API', () => {
  it('the provider’s type and words reach the caller', async () => {
    const error = { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens' }
    provider.answers.set(PATH, { status: 400, body: { type: 'error', error } })
    const { status, text, headers } = await send()
    expect(status).toBe(400)
    expect(JSON.parse(text)).toEqual({
      type: 'error',
      error,
      request_id: headers.get('x-request-id'),
    })
    expect(await onlyEnd(rig)).toMatchObject({ type: 'CallReleased' })
  })

  it.each([
    [{ headers: { 'x-api-key': 'sk-wrong' } }, 401, 'authentication_error'],
    [{ body: { ...REQUEST, model: 'unknown' } }, 404, 'not_found_error'],
    [{ body: { ...REQUEST, max_tokens: 0 } }, 400, 'invalid_request_error'],
    [{ body: { ...REQUEST, system: 5 } }, 400, 'invalid_request_error'],
    [{ body: { ...REQUEST, messages: [{ role: 1 }] } }, 400, 'invalid_request_error'],
  ])('%j gets status %i and the type %s', async (sent, status, type) => {
    const answer = await send(sent as Sent)
    expect(answer.status).toBe(status)
    expect(JSON.parse(answer.text)).toMatchObject({ type: 'error', error: { type } })
    expect(provider.requests).toEqual([])
  })
})

describe('the official client', () => {
  const client = () =>
    new Anthropic({ apiKey: `sk-${KEY}`, baseURL: rig.url, maxRetries: 0, logLevel: 'off' })
  const { model, max_tokens } = REQUEST
  const messages = [{ role: 'user' as const, content: 'Hello' }]

  it('reads an answer and a stream', async () => {
    provider.answers.set(PATH, { body: ANSWER })
    const answer = await client().messages.create({ model, max_tokens, messages })
    expect(answer.content).toEqual(ANSWER.content)
    answerWith([Buffer.from(STREAM)])
    const streamed = await client().messages.stream({ model, max_tokens, messages }).finalMessage()
    expect(streamed.content).toEqual([{ type: 'text', text: 'It says "message_stop".' }])
    expect(streamed.usage.output_tokens).toBe(50)
  })

  it('counts tokens free of charge, without a request to the provider', async () => {
    const before = await rig.balance()
    const { input_tokens } = await client().messages.countTokens({ model, messages })
    expect(input_tokens).toBeGreaterThan(3)
    const system = 'You answer every question in exactly one sentence of plain words.'
    const more = await client().messages.countTokens({ model, messages, system })
    expect(more.input_tokens).toBeGreaterThan(input_tokens + 8)
    expect(provider.requests).toEqual([])
    expect(await rig.callEvents()).toEqual([])
    expect(await rig.balance()).toBe(before)
  })

  it('lists the models that the token may call, by pages', async () => {
    await rig.addChannel(3, { models: ['sim-small'] })
    await rig.addChannel(4, { type: 14, models: ['claude-opus-5-5'] })
    await rig.setOption('ModelRatio', { [MODEL]: 1.5, 'sim-small': 1, 'claude-opus-5-5': 2 })
    const listed = []
    for await (const { id } of client().models.list({ limit: 1 })) listed.push(id)
    expect(listed).toEqual(['claude-opus-5-5', MODEL, 'sim-small'])
    expect(await client().models.retrieve(MODEL)).toMatchObject({ type: 'model', id: MODEL })
  })

  it('an error is the class of its status, with the id of the request', async () => {
    const refused = client().messages.create({ model: 'unknown', max_tokens, messages })
    await expect(refused).rejects.toBeInstanceOf(Anthropic.NotFoundError)
  })
})
