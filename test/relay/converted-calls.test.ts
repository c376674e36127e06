import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, errorOf, KEY, onlyEnd, PROVIDER_KEY, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const CLAUDE = 'claude-sonnet-5-5'
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.setOption('ModelRatio', { [CLAUDE]: 1.5, 'sim-small': 1.25 })
  await rig.setOption('CompletionRatio', { [CLAUDE]: 5, 'sim-small': 4 })
  await rig.setOption('CacheRatio', { [CLAUDE]: 0.1, 'sim-small': 0.5 })
  await rig.setOption('CreateCacheRatio', { [CLAUDE]: 1.25 })
})

const sse = (...events: readonly (readonly [string, object])[]): Buffer =>
  Buffer.from(
    events
      .map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
      .join(''),
  )

const USAGE = {
  input_tokens: 100,
  cache_read_input_tokens: 2000,
  cache_creation_input_tokens: 500,
  cache_creation: { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 100 },
  output_tokens: 50,
}
const CHARGE = 1875
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: CLAUDE,
  content: [
    { type: 'text', text: 'I read it.' },
    { type: 'tool_use', id: 'toolu_1', name: 'read', input: { path: 'a.txt' } },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: USAGE,
}
const BEGUN = {
  message: { ...MESSAGE, content: [], stop_reason: null, usage: { ...USAGE, output_tokens: 1 } },
}
const STREAM = sse(
  ['message_start', BEGUN],
  ['content_block_start', { index: 0, content_block: { type: 'text', text: '' } }],
  ['content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'I read it.' } }],
  ['content_block_stop', { index: 0 }],
  [
    'content_block_start',
    { index: 1, content_block: { type: 'tool_use', id: 'toolu_1', name: 'read', input: {} } },
  ],
  [
    'content_block_delta',
    { index: 1, delta: { type: 'input_json_delta', partial_json: '{"path":"a.txt"}' } },
  ],
  ['content_block_stop', { index: 1 }],
  [
    'message_delta',
    { delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 50 } },
  ],
  ['message_stop', {}],
)

const answerStream = (path: string, pieces: readonly Buffer[]) =>
  provider.answers.set(path, { headers: { 'content-type': 'text/event-stream' }, pieces })

describe('a chat on an Anthropic channel', () => {
  const PATH = 'POST /v1/messages'
  const openai = () => new OpenAI({ apiKey: `sk-${KEY}`, baseURL: `${rig.url}/v1`, maxRetries: 0 })
  const read = {
    type: 'function' as const,
    function: { name: 'read', parameters: { type: 'object' } },
  }
  const request = {
    model: CLAUDE,
    messages: [
      { role: 'system' as const, content: 'Be brief.' },
      { role: 'user' as const, content: 'Read a.txt' },
    ],
    tools: [read],
    seed: 7,
  }

  beforeEach(() => rig.addChannel(2, { type: 14, baseUrl: provider.url, models: [CLAUDE] }))

  it('is converted in both directions and billed by the provider’s usage', async () => {
    provider.answers.set(PATH, { body: MESSAGE })
    const { data, response } = await openai().chat.completions.create(request).withResponse()
    expect(JSON.parse(provider.requests[0]?.body ?? '')).toMatchObject({
      model: CLAUDE,
      max_tokens: 8192,
      system: 'Be brief.',
      messages: [{ role: 'user', content: 'Read a.txt' }],
      tools: [{ name: 'read', input_schema: { type: 'object' } }],
    })
    expect(provider.requests[0]?.headers).toMatchObject({ 'x-api-key': PROVIDER_KEY })
    expect(data.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: 'I read it.',
        tool_calls: [{ id: 'toolu_1', function: { name: 'read', arguments: '{"path":"a.txt"}' } }],
      },
    })
    expect(data.usage).toMatchObject({
      prompt_tokens: 2600,
      completion_tokens: 50,
      prompt_tokens_details: { cached_tokens: 2000 },
    })
    expect(response.headers.get('x-conversion-loss')).toBe('seed')
    expect((await onlyEnd(rig)).data).toMatchObject({
      charge: CHARGE,
      usageSource: 'upstream',
      formats: ['chat', 'messages'],
      losses: ['seed'],
    })
  })

  it('in Anthropic’s form, as Cursor sends it, gets its own names of tools back', async () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' }
    const content = [
      { type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', source }] },
    ]
    const body = {
      ...{ model: CLAUDE, system: 'Be brief.', stream: true },
      messages: [
        { role: 'user', content: 'Read a.txt' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'fs.read', input: {} }] },
        { role: 'user', content },
      ],
      tools: [{ name: 'fs.read', input_schema: { type: 'object' } }],
      tool_choice: { type: 'any' },
    }
    const send = () =>
      fetch(`${rig.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    answerStream(PATH, [STREAM])
    expect((await send()).headers.get('x-conversion-loss')).toBeNull()
    const sent = JSON.parse(provider.requests[0]?.body ?? '')
    const [{ name }] = sent.tools
    expect(sent).toMatchObject({
      system: 'Be brief.',
      messages: [{}, { content: [{ type: 'tool_use', name }] }, { content }],
      tools: [{ name: expect.stringMatching(/^fs_read_[0-9a-f]{10}$/) }],
      tool_choice: { type: 'any' },
    })
    answerStream(PATH, [Buffer.from(STREAM.toString().replace('"read"', `"${name}"`))])
    const text = await (await send()).text()
    expect(text).toContain('"function":{"name":"fs.read","arguments":""}')
    expect(text).not.toContain(name)
  })

  it('that fails records its formats and losses, too', async () => {
    provider.answers.set(PATH, { status: 400, body: { type: 'error', error: { type: 'x' } } })
    await openai()
      .chat.completions.create(request)
      .catch(() => null)
    const { type, data } = await onlyEnd(rig)
    expect(type).toBe('CallReleased')
    expect(data).toMatchObject({ formats: ['chat', 'messages'], losses: ['seed'] })
  })

  // Statistics leave out calls without this time, as if their providers had not answered.
  it('whose stream has no content has a time of its first byte', async () => {
    answerStream(PATH, [sse(['message_start', BEGUN], ['message_stop', {}])])
    await openai().chat.completions.stream(request).finalChatCompletion()
    const { data } = await onlyEnd(rig)
    expect(data).toMatchObject({ end: 'done', timings: { firstByteMs: expect.any(Number) } })
  })

  it('names what its answer loses, and records it also for a stream', async () => {
    const web_search_tool_result = { type: 'web_search_tool_result', content: [] }
    const content = [web_search_tool_result, ...MESSAGE.content]
    provider.answers.set(PATH, { body: { ...MESSAGE, content } })
    const { response } = await openai().chat.completions.create(request).withResponse()
    const name = 'answer (web_search_tool_result)'
    expect(response.headers.get('x-conversion-loss')).toBe(`${name}, seed`)
    const begun = { index: 9, content_block: web_search_tool_result }
    answerStream(PATH, [...[sse(['message_start', BEGUN], ['content_block_start', begun]), STREAM]])
    await openai().chat.completions.stream(request).finalChatCompletion()
    const ends = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
    expect(ends).toHaveLength(2)
    for (const { data } of ends) expect(data).toMatchObject({ losses: [name, 'seed'] })
  })

  it('as a stream, split at any byte, is read by the official client', async () => {
    for (let at = 1; at < STREAM.length; at += 29) {
      answerStream(PATH, [STREAM.subarray(0, at), STREAM.subarray(at)])
      const stream = openai().chat.completions.stream({
        ...request,
        stream_options: { include_usage: true },
      })
      const { choices, usage } = await stream.finalChatCompletion()
      expect(choices[0]?.message.content).toBe('I read it.')
      expect(choices[0]?.message.tool_calls?.[0]).toMatchObject({ id: 'toolu_1' })
      expect(usage).toMatchObject({ prompt_tokens: 2600, completion_tokens: 50 })
    }
    const ends = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
    for (const { data } of ends) expect(data).toMatchObject({ charge: CHARGE, end: 'done' })
  })

  it('a stream has no unrequested usage, and the caller’s name of the model', async () => {
    await rig.addChannel(3, {
      type: 14,
      baseUrl: provider.url,
      models: ['alias'],
      modelMapping: JSON.stringify({ alias: CLAUDE }),
    })
    await rig.setOption('ModelRatio', { alias: 1.5 })
    answerStream(PATH, [STREAM])
    const { text } = await chat(rig, { model: 'alias', stream: true })
    expect(text).not.toContain('"usage":{')
    expect(text).not.toContain(CLAUDE)
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(JSON.parse(provider.requests[0]?.body ?? '')).toMatchObject({ model: CLAUDE })
  })

  it('that is cut is charged for its input and its delivered text', async () => {
    answerStream(PATH, [STREAM.subarray(0, STREAM.indexOf('event: content_block_stop'))])
    const { text } = await chat(rig, { model: CLAUDE, stream: true })
    expect(text).toContain('"error"')
    expect(text).not.toContain('[DONE]')
    const { data } = await onlyEnd(rig)
    expect(data).toMatchObject({ end: 'incomplete', usage: { cacheRead: 2000 } })
  })

  it.each([
    ['usage', `event: message_stop\ndata: {"type":"message_stop","usage":{"x":1}}\n\n`],
    ['its type only as name', `event: message_stop\ndata: {"x":1}\n\n`],
    [
      'much more',
      `event: message_stop\ndata: {"type":"message_stop","x":"${'y'.repeat(600)}"}\n\n`,
    ],
  ])('a last event with %s ends the stream once, as done', async (_name, last) => {
    const end = STREAM.indexOf('event: message_stop')
    answerStream(PATH, [STREAM.subarray(0, end), Buffer.from(last)])
    const { text } = await chat(rig, { model: CLAUDE, stream: true })
    expect(text.split('[DONE]')).toHaveLength(2)
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect((await onlyEnd(rig)).data).toMatchObject({ end: 'done', charge: CHARGE })
  })

  it('an error of the provider has OpenAI’s format and no key of the provider', async () => {
    const error = { type: 'invalid_request_error', message: `bad prompt ${PROVIDER_KEY}` }
    provider.answers.set(PATH, { status: 400, body: { type: 'error', error } })
    const answer = await chat(rig, { model: CLAUDE })
    expect(answer.status).toBe(400)
    expect(errorOf(answer)).toMatchObject({ type: error.type, message: 'bad prompt ***' })
  })

  it('several choices are refused, and nothing is held', async () => {
    const before = await rig.balance()
    const answer = await chat(rig, { model: CLAUDE, n: 2 })
    expect(answer.status).toBe(400)
    expect(errorOf(answer)).toMatchObject({ code: 'not_convertible', param: 'n' })
    expect(provider.requests).toEqual([])
    expect(await rig.balance()).toBe(before)
    expect(await rig.callEvents()).toEqual([])
  })

  it('an override that raises the output limit is covered by the hold', async () => {
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    await rig.addChannel(4, {
      type: 14,
      baseUrl: provider.url,
      models: [CLAUDE],
      paramOverride: JSON.stringify({ max_tokens: 50_000 }),
    })
    for (const padding of ['', 'x'.repeat(10_000)]) {
      provider.answers.set(PATH, { body: MESSAGE })
      const messages = [{ role: 'user', content: `Hello${padding}` }]
      await chat(rig, { model: CLAUDE, max_tokens: 10, messages })
    }
    const admitted = (await rig.callEvents()).filter(({ type }) => type === 'CallAdmitted')
    expect(admitted).toHaveLength(2)
    for (const { data } of admitted) {
      expect((data as { hold: number }).hold).toBeGreaterThanOrEqual(50_000 * 5 * 1.5)
    }
    expect(JSON.parse(provider.requests[1]?.body ?? '')).toMatchObject({ max_tokens: 50_000 })
  })

  it('is not sent there while a channel of OpenAI’s format has the model', async () => {
    await rig.addChannel(3, { models: [CLAUDE] })
    const { status } = await chat(rig, { model: CLAUDE })
    expect(status).toBe(200)
    expect(provider.requests).toEqual([])
  })

  it('an answer that is not JSON is a failure of the provider', async () => {
    provider.answers.set(PATH, { body: '{"content": [oops]}' })
    const answer = await chat(rig, { model: CLAUDE })
    expect(answer.status).toBe(502)
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
  })
})

const OPENAI_PATH = 'POST /v1/chat/completions'
const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`

describe('a provider that fails within a converted stream', () => {
  const request = {
    model: 'sim-small',
    max_tokens: 50,
    stream: true,
    messages: [{ role: 'user', content: 'Hello' }],
  }
  const HOST = 'https://internal.example/x'
  const message = `bad key ${PROVIDER_KEY} at ${HOST}`
  const begun = data({ id: 'a', choices: [{ index: 0, delta: { content: 'Hel' } }] })

  beforeEach(() => rig.addChannel(6, { baseUrl: provider.url }))

  const send = async (body: object = request) => {
    const headers = { 'x-api-key': `sk-${KEY}`, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(`${rig.url}/v1/messages`, init)
    return { status: response.status, text: await response.text() }
  }

  it.each([
    [
      'an error beside a choice',
      data({
        id: 'a',
        error: { code: 401, message },
        choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
      }),
    ],
    ['an event named error', `event: error\n${data({ code: 'InvalidApiKey', message })}`],
    ['an error alone', data({ error: { message } })],
  ])('%s ends the call as an error of the provider, without the key', async (_name, event) => {
    answerStream(OPENAI_PATH, [Buffer.from(begun + event)])
    const { text } = await send()
    expect(text).toContain('event: error')
    expect(text).not.toContain(PROVIDER_KEY)
    expect(text).not.toContain('internal.example')
    expect(text).not.toContain('message_stop')
    expect((await onlyEnd(rig)).data).toMatchObject({ end: 'upstream-error' })
  })

  it('a tool call that is nested too deeply is a failure, and the hold is released', async () => {
    let nested: object = {}
    for (let depth = 0; depth < 20_000; depth += 1) nested = { a: nested }
    const json = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`
    const call = `{"id":"c","type":"function","function":{"name":"f","arguments":${json}}}`
    const usage = '{"prompt_tokens":5,"completion_tokens":5}'
    const choice = `{"index":0,"message":{"tool_calls":[${call}]},"finish_reason":"tool_calls"}`
    provider.answers.set(OPENAI_PATH, { body: `{"id":"a","choices":[${choice}],"usage":${usage}}` })
    const { status } = await send({ ...request, stream: false })
    expect([200, 502]).toContain(status)
    expect(await rig.callEvents()).toHaveLength(2)
  })

  it('line ends of any kind separate events', async () => {
    const last = data({
      id: 'a',
      choices: [{ index: 0, delta: { content: 'lo' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 5, completion_tokens: 2 },
    })
    const stream = `${begun}${last}data: [DONE]\n\n`.replaceAll('\n\n', '\n\r\n')
    answerStream(OPENAI_PATH, [Buffer.from(stream)])
    const { text } = await send()
    expect(text).toContain('"text":"Hel"')
    expect(text).toContain('message_stop')
    expect((await onlyEnd(rig)).data).toMatchObject({ usage: { inputUncached: 5, output: 2 } })
  })

  it('a request with very many members is refused before it is converted', async () => {
    const schema = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`k${at}`, 1]))
    const tools = [{ name: 'f', input_schema: schema }]
    const { status, text } = await send({ ...request, tools })
    expect([status, JSON.parse(text).error.type]).toEqual([400, 'invalid_request_error'])
    expect(provider.requests).toEqual([])
  })
})

describe('a call of the Messages API on a channel of OpenAI’s format', () => {
  const anthropic = () =>
    new Anthropic({ apiKey: `sk-${KEY}`, baseURL: rig.url, maxRetries: 0, logLevel: 'off' })
  const request = {
    model: 'sim-small',
    max_tokens: 6,
    system: 'Be brief.',
    messages: [{ role: 'user' as const, content: 'Hello there' }],
  }

  beforeEach(() => rig.addChannel(5))

  it('is converted in both directions and billed by the provider’s usage', async () => {
    const { content, usage, stop_reason } = await anthropic().messages.create(request)
    expect(content).toEqual([{ type: 'text', text: 'a ledger that never forgets keeps' }])
    expect(stop_reason).toBe('end_turn')
    expect(usage).toMatchObject({ output_tokens: 6, cache_read_input_tokens: 0 })
    const { data } = await onlyEnd(rig)
    const { input_tokens: input } = usage
    const charge = Math.round((input + 6 * 4) * 1.25)
    expect(data).toMatchObject({ charge, usage: { inputUncached: input, output: 6 } })
  })

  it('as a stream is read by the official client and billed by the usage chunk', async () => {
    const { content, usage } = await anthropic().messages.stream(request).finalMessage()
    expect(content).toEqual([{ type: 'text', text: 'a ledger that never forgets keeps' }])
    expect(usage.output_tokens).toBe(6)
    expect((await onlyEnd(rig)).data).toMatchObject({
      end: 'done',
      usageSource: 'upstream',
      usage: { output: 6 },
    })
  })

  it('an error of the provider has Anthropic’s format', async () => {
    rig.provider.script.push({ kind: 'status', status: 429 })
    const refused = anthropic().messages.create(request)
    await expect(refused).rejects.toBeInstanceOf(Anthropic.RateLimitError)
  })
})
