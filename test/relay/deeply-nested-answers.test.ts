import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { textOfAnswer } from '#relay/canonical/answer-text-for-token-count.ts'
import { GEMINI } from '#relay/dialects/gemini/generate-content-format.ts'
import { AttemptList } from '#relay/pipeline/attempt-list.ts'
import { DeadlineTimer } from '#relay/pipeline/call-deadlines-and-timer.ts'
import { RunningCall } from '#relay/pipeline/running-call.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)
const MODEL = 'lab-nested'
/** `JSON.parse` accepts this depth, and `JSON.stringify` throws a RangeError. */
const DEPTH = 20_000
/** The nested values count as text, which would otherwise exceed the limit of the call. */
const OUTPUT_MAX = 200_000
const nested = `${'{"a":'.repeat(DEPTH)}1${'}'.repeat(DEPTH)}`
/** Only the usage shows the tokens of thoughts. */
const USAGE = { promptTokenCount: 3, candidatesTokenCount: 4, thoughtsTokenCount: 900 }
const CHARGED = { usage: { inputUncached: 3, output: 904, reasoning: 900 } }
const content = `{"role":"model","parts":[{"functionCall":{"name":"f","args":${nested}}}]}`
const candidate = `{"content":${content},"finishReason":"STOP"}`
const answer = `{"candidates":[${candidate}],"usageMetadata":${JSON.stringify(USAGE)}}`

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 24, baseUrl: provider.url, models: [MODEL] })
  await rig.setOption('ModelRatio', { [MODEL]: 1, 'sim-small': 1.25 })
  const path = `POST /v1beta/models/${MODEL}`
  const streamed = { headers: { 'content-type': 'text/event-stream' } }
  const pieces = [Buffer.from(`data: ${answer}\n\n`)]
  provider.answers.set(`${path}:streamGenerateContent`, { ...streamed, pieces })
  const whole = { headers: { 'content-type': 'application/json' } }
  provider.answers.set(`${path}:generateContent`, { ...whole, pieces: [Buffer.from(answer)] })
})

const call = (path: string, body: object) =>
  fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }]
const chat = {
  model: MODEL,
  max_tokens: OUTPUT_MAX,
  messages: [{ role: 'user', content: 'x' }],
  tools,
}
const contents = [{ role: 'user', parts: [{ text: 'x' }] }]

it('a stream that can not be converted ends with an error, and its part is charged', async () => {
  const response = await call('/v1/chat/completions', { ...chat, stream: true })
  expect(await response.text()).toContain('"error"')
  expect((await onlyEnd(rig)).type).toBe('CallSettled')
})

const streamOf = (...events: readonly string[]) => ({
  headers: { 'content-type': 'text/event-stream' },
  pieces: events.map((event) => Buffer.from(`data: ${event}\n\n`)),
})
const streamPath = `/v1beta/models/${MODEL}:streamGenerateContent`

it('a stream whose first event can not be converted is charged, and not tried again', async () => {
  await rig.setOption('RetryTimes', '1')
  await rig.addChannel(3, { type: 24, baseUrl: provider.url, models: [MODEL] })
  const end = `{"candidates":[{"finishReason":"STOP"}],"usageMetadata":${JSON.stringify(USAGE)}}`
  const events = streamOf(`{"candidates":[{"content":${content}}]}`, end)
  provider.answers.set(`POST ${streamPath}`, events)
  const response = await call('/v1/chat/completions', { ...chat, stream: true })
  expect(await response.text()).toContain('"error"')
  const { type, data } = await onlyEnd(rig)
  expect(type).toBe('CallSettled')
  expect('charge' in data && Number(data.charge)).toBeGreaterThan(0)
  expect(provider.requests).toHaveLength(1)
})

it.each([
  ['with', '{"prompt_tokens":3,"completion_tokens":904}'],
  ['without', 'null'],
])('a stream whose end can not be converted is charged (%s usage)', async (_name, usage) => {
  await rig.setOption('RetryTimes', '1')
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
  for (const channelId of [3, 4]) {
    await rig.addChannel(channelId, { type: 1, baseUrl: provider.url, models: [MODEL] })
  }
  const called = { index: 0, id: 'c', function: { name: 'f', arguments: nested } }
  const begun = { id: 'a', choices: [{ index: 0, delta: { tool_calls: [called] } }] }
  const end = '{"id":"a","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}'
  const last = `{"id":"a","choices":[],"usage":${usage}}`
  provider.answers.set('*', streamOf(JSON.stringify(begun), end, last, '[DONE]'))
  for (const [path, body] of [
    [`${streamPath}?alt=sse`, { contents, generationConfig: { maxOutputTokens: OUTPUT_MAX } }],
    ['/v1/messages', { ...chat, tools: undefined, stream: true }],
    ['/v1/responses', { model: MODEL, input: 'x', stream: true }],
  ] as const) {
    await (await call(path, body)).text()
  }
  const ends = (await rig.callEvents()).filter(({ type }) => /Settled|Released/.test(type))
  expect(ends.map(({ type }) => type)).toEqual(['CallSettled', 'CallSettled', 'CallSettled'])
  for (const { data } of ends) expect('charge' in data && Number(data.charge)).toBeGreaterThan(0)
  expect(provider.requests).toHaveLength(3)
})

it('a plain answer that can not be converted is an error, and its usage is charged', async () => {
  const response = await call('/v1/chat/completions', chat)
  expect(response.status).toBe(502)
  expect(await onlyEnd(rig)).toMatchObject({ type: 'CallSettled', data: CHARGED })
})

it.each(['streamGenerateContent?alt=sse', 'generateContent'])(
  'an answer of %s is passed unchanged and charged',
  async (method) => {
    const response = await call(`/v1beta/models/${MODEL}:${method}`, {
      contents,
      generationConfig: { maxOutputTokens: OUTPUT_MAX },
    })
    expect(await response.text()).toContain(nested)
    expect(await onlyEnd(rig)).toMatchObject({ type: 'CallSettled', data: CHARGED })
  },
)

const HOSTILE = { toString: 1 }
const ask = (stream: boolean) =>
  call('/v1/chat/completions', { model: 'sim-small', messages: chat.messages, stream })
const openAiAnswer = (usage: object) => ({
  ...{ id: 'c1', object: 'chat.completion', created: 1, model: 'sim-small' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage,
})

const withoutUsage = `{"candidates":[${candidate}]}`

it('a plain answer without usage that can not be converted is charged by a count', async () => {
  const whole = { headers: { 'content-type': 'application/json' } }
  const pieces = [Buffer.from(withoutUsage)]
  provider.answers.set(`POST /v1beta/models/${MODEL}:generateContent`, { ...whole, pieces })
  expect((await call('/v1/chat/completions', chat)).status).toBe(502)
  const { type, data } = await onlyEnd(rig)
  expect(type).toBe('CallSettled')
  expect('charge' in data && Number(data.charge)).toBeGreaterThan(DEPTH)
})

describe('a plain answer in the format of the caller that can not be serialized again', () => {
  const json = { headers: { 'content-type': 'application/json' } }
  const USED = '{"input_tokens":3,"output_tokens":904}'
  const id = '"id":"a1","model":"lab-nested"'
  const called = `{"type":"function_call","call_id":"c","name":"f","arguments":${nested}}`
  const failure = '"status":"failed","error":{"code":"server_error","message":"Failed"}'
  const response = `{${id},"object":"response","output":[${called}],"usage":${USED}`
  const block = `{"type":"tool_use","id":"t","name":"f","input":${nested}}`
  const message = `{${id},"type":"message","role":"assistant","content":[${block}],"usage":${USED}}`
  const asked = { model: MODEL, messages: chat.messages, max_tokens: OUTPUT_MAX }
  const charged = { end: 'incomplete', usage: { inputUncached: 3, output: 904 } }

  const script = async (type: number, body: string, until?: Promise<void>) => {
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    await rig.addChannel(3, { type, baseUrl: provider.url, models: [MODEL] })
    const pieces = [Buffer.from(body)]
    provider.answers.set('*', { ...json, pieces, ...(until === undefined ? {} : { until }) })
  }

  it('is an error and charged by its usage if the response has failed', async () => {
    await script(1, `${response},${failure}}`)
    const answered = await call('/v1/responses', { model: MODEL, input: 'x' })
    expect(answered.status).toBe(502)
    expect(await answered.text()).toContain('"error"')
    expect(await onlyEnd(rig)).toMatchObject({ type: 'CallSettled', data: charged })
  })

  it('is passed unchanged if the response is incomplete', async () => {
    await script(1, `${response},"status":"incomplete"}`)
    const answered = await call('/v1/responses', { model: MODEL, input: 'x' })
    expect([answered.status, await answered.text()]).toEqual([200, expect.stringContaining(nested)])
    const data = { end: 'done', usage: charged.usage }
    expect(await onlyEnd(rig)).toMatchObject({ type: 'CallSettled', data })
  })

  it.each([
    ['/v1/messages', 14, message, asked],
    ['/v1/responses', 1, `${response},"status":"completed"}`, { model: MODEL, input: 'x' }],
  ] as const)('ends a stream at %s that began with pings', async (path, type, body, request) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    await rig.setOption('general_setting.ping_interval_enabled', 'true')
    await rig.setOption('general_setting.ping_interval_seconds', '1')
    await script(type, body, promise)
    const answered = await call(path, { ...request, stream: true })
    resolve()
    expect(answered.status).toBe(200)
    expect(await answered.text()).toMatch(/ping\n[\s\S]*event: error\ndata: \{/)
    expect(await onlyEnd(rig)).toMatchObject({ type: 'CallSettled', data: charged })
  })
})

describe('values that can not be converted to a text or a number', () => {
  it.each(['prompt_tokens', 'completion_tokens', 'prompt_tokens_details', 'total_tokens'])(
    'in the usage (`%s`), the call is charged, and ends',
    async (name) => {
      await rig.addChannel(3, { type: 1, baseUrl: provider.url, maxConcurrency: 1 })
      const usage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10, [name]: HOSTILE }
      provider.answers.set('POST /v1/chat/completions', { body: openAiAnswer(usage) })
      for (const stream of [false, true]) {
        const response = await ask(stream)
        expect([response.status, await response.text()]).toEqual([200, expect.anything()])
        const end = (await rig.callEvents()).at(-1)
        expect(end).toMatchObject({ type: 'CallSettled' })
      }
    },
  )

  it('in an event of a stream, the call is charged, and ends', async () => {
    await rig.addChannel(3, { type: 1, baseUrl: provider.url })
    const choices = [{ index: 0, delta: { content: 'Hello' }, finish_reason: null }]
    const usage = { prompt_tokens: HOSTILE, completion_tokens: HOSTILE }
    const events = [{ choices }, { choices: [], usage }].map((one) => {
      const chunk = { id: 'c1', object: 'chat.completion.chunk', created: 1, ...one }
      return `data: ${JSON.stringify({ ...chunk, model: 'sim-small' })}\n\n`
    })
    const pieces = [...events, 'data: [DONE]\n\n'].map((event) => Buffer.from(event))
    const headers = { 'content-type': 'text/event-stream' }
    provider.answers.set('POST /v1/chat/completions', { headers, pieces })
    expect(await (await ask(true)).text()).toContain('[DONE]')
    const end = await onlyEnd(rig)
    expect(end).toMatchObject({ type: 'CallSettled', data: { anomaly: 'not-a-number' } })
    expect(Number('charge' in end.data && end.data.charge)).toBeGreaterThan(0)
  })

  it.each([
    ['an object', JSON.stringify(HOSTILE)],
    ['a deep list', `${'['.repeat(DEPTH)}1${']'.repeat(DEPTH)}`],
  ])('in an error (%s), the next channel is tried, and no permit is lost', async (_name, value) => {
    await rig.setOption('RetryTimes', '1')
    await rig.setOption('channel_health.circuit_failures', '100')
    await rig.addChannel(3, { type: 1, baseUrl: provider.url, priority: 9, maxConcurrency: 1 })
    await rig.addChannel(4)
    const body = `{"detail":[{"loc":[${value}],"msg":"x"}]}`
    const refusal = { status: 500, headers: { 'content-type': 'application/json' } }
    provider.answers.set('*', { ...refusal, pieces: [Buffer.from(body)] })
    for (let n = 0; n < 2; n += 1) expect((await ask(false)).status).toBe(200)
    expect(provider.requests).toHaveLength(2)
  })
})

describe('an exception in the relay', () => {
  afterEach(() => vi.restoreAllMocks())
  beforeEach(async () => {
    await rig.addChannel(3, { maxConcurrency: 1 })
  })
  const bug = () => {
    throw new Error('a bug')
  }
  const failOnce = (spied: { mockImplementationOnce: (fail: () => never) => unknown }) => {
    spied.mockImplementationOnce(bug)
  }
  const failToStart = () => {
    const { add } = DeadlineTimer.prototype
    const spied = vi.spyOn(DeadlineTimer.prototype, 'add')
    spied.mockImplementation(function (this: DeadlineTimer, listener) {
      if (!(listener instanceof RunningCall)) return add.call(this, listener)
      spied.mockRestore()
      return bug()
    })
  }

  it.each([
    ['before the first attempt', failToStart, []],
    ['in an attempt', () => failOnce(vi.spyOn(RunningCall.prototype, 'tryAt')), []],
    [
      'before the bill is written',
      () => failOnce(vi.spyOn(AttemptList.prototype, 'noteAnswer')),
      [{ channelId: 3 }],
    ],
  ])('%s leaves no hold and no permit', async (_name, fail, attempts) => {
    fail()
    expect((await ask(false)).status).toBeGreaterThanOrEqual(500)
    const data = { errorCode: 'internal_error', attempts }
    expect(await onlyEnd(rig)).toMatchObject({ type: 'CallReleased', data })
    expect((await ask(false)).status).toBe(200)
  })
})

it('the text of such an answer is read for its screening and its count', () => {
  const { text } = textOfAnswer(Buffer.from(answer.replace('1}', '"blocked"}')), GEMINI.readTexts)
  expect(text).toContain('blocked')
})
