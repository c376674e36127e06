import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { outcomeOf } from '#relay/channel-health/attempt-outcome.ts'
import { AnswerBuffer, lastMembersOf } from '#relay/pipeline/answer-buffer.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, errorOf, KEY, onlyEnd, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const MIB = 1024 * 1024
const MODEL = 'gpt-6-astra'
const CLAUDE = 'claude-sonnet-5-5'
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.setOption('ModelRatio', { [MODEL]: 1, [CLAUDE]: 1 })
  await rig.setOption('CompletionRatio', { [MODEL]: 4, [CLAUDE]: 4 })
  await rig.setOption('RetryTimes', '1')
})

async function answerPictures(): Promise<Response> {
  await rig.addChannel(2, { type: 8, baseUrl: provider.url, models: ['pictures'] })
  await rig.setOption('ModelPrice', { pictures: 0.02 })
  const body = { created: 1, data: [{ b64_json: 'x'.repeat(33 * MIB) }] }
  provider.answers.set('POST /v1/images/generations', { body })
  return fetch(`${rig.url}/v1/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'pictures', prompt: 'hats' }),
  })
}

it('pictures that are too large are an error that names the limit, and are charged', async () => {
  const before = await rig.balance()
  const answer = await answerPictures()
  expect(answer.status).toBe(502)
  const { error } = (await answer.json()) as { error: { code: string; message: string } }
  expect(error.code).toBe('upstream_too_large')
  expect(error.message).toContain('32 MiB')
  const end = await onlyEnd(rig)
  expect(end).toMatchObject({ type: 'CallSettled', data: { end: 'incomplete' } })
  expect(before - (await rig.balance())).toBe(10_000n)
})

describe('a chat with log probabilities whose plain answer is too large', () => {
  const USAGE = { prompt_tokens: 11, completion_tokens: 9_000, total_tokens: 9_011 }
  const choice = (content: string) => ({ index: 0, message: { role: 'assistant', content } })

  beforeEach(async () => {
    for (const channelId of [2, 3]) {
      await rig.addChannel(channelId, { type: 8, baseUrl: provider.url, models: [MODEL] })
    }
  })

  const ask = async (members: object) => {
    const body = { id: 'c1', object: 'chat.completion', model: MODEL, ...members }
    provider.answers.set('POST /v1/chat/completions', { body })
    const options = { logprobs: true, top_logprobs: 20, max_tokens: 16_000 }
    return chat(rig, { model: MODEL, ...options, n: 8 })
  }

  it('is charged by its usage, and no other channel is tried', async () => {
    const text = 'y'.repeat(33 * MIB)
    const forged = '"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}'
    const answer = await ask({ choices: [choice(text), choice(forged)], usage: USAGE })
    expect([answer.status, errorOf(answer).code]).toEqual([502, 'upstream_too_large'])
    expect(provider.requests).toHaveLength(1)
    const end = await onlyEnd(rig)
    expect([end.type, end.data]).toMatchObject([
      'CallSettled',
      { end: 'incomplete', usage: { inputUncached: 11, output: 9_000 }, usageSource: 'upstream' },
    ])
  })

  it('is charged like the longest answer that was requested if its usage is missing', async () => {
    const answer = await ask({ choices: [choice('y'.repeat(33 * MIB))] })
    expect(answer.status).toBe(502)
    const end = await onlyEnd(rig)
    expect([end.type, end.data]).toMatchObject(['CallSettled', { usage: { output: 128_000 } }])
  })
})

describe('a stream whose first event is too large', () => {
  const ask = async (event: string) => {
    for (const channelId of [2, 3]) {
      await rig.addChannel(channelId, { type: 8, baseUrl: provider.url, models: [MODEL] })
    }
    const headers = { 'content-type': 'text/event-stream' }
    provider.answers.set('POST /v1/chat/completions', { headers, pieces: [Buffer.from(event)] })
    const { status } = await chat(rig, { model: MODEL, stream: true, logprobs: true })
    return [status, provider.requests.length]
  }
  const content = 'y'.repeat(2 * MIB)

  it.each([
    {},
    { error: null, errors: [], code: 200 },
    { note: '"code":500, "error":{', nested: [{ code: 500, type: 'error' }, { error: {} }] },
  ])('is charged for its input, and no other channel is tried (%j)', async (members) => {
    const choices = [{ index: 0, delta: { content: `\nevent: error${content}` } }]
    const event = JSON.stringify({ id: 'c1', ...members, choices })
    expect(await ask(`data: ${event}\n\n`)).toEqual([502, 1])
    const { type, data } = await onlyEnd(rig)
    expect([type, data]).toMatchObject(['CallSettled', { end: 'incomplete', usage: { output: 0 } }])
    expect('charge' in data && Number(data.charge)).toBeGreaterThan(0)
  })

  it.each([
    ['no event', content],
    ['no JSON', `data: ${content}\n\n`],
    ['an error', `data: {"error":{"message":"${content}"}}\n\n`],
    ['an error with a type', `data: {"type":"error","error":{"message":"${content}"}}\n\n`],
    ['an error after an id', `data: {"id":"[1, 2]","error":{"message":"${content}"}}\n\n`],
    ['an error of a vendor', `data: {"code":500,"message":"${content}"}\n\n`],
    ['a failure of a vendor', `data: {"success": false, "data": ["${content}"]}\n\n`],
    ['a list of errors', `data: {"errors":[{"message":"${content}"}]}\n\n`],
    ['an event named so', `event: error\ndata: {"message":"${content}"}\n\n`],
  ])('costs nothing if it is %s, and the next channel is tried', async (_case, event) => {
    expect(await ask(event)).toEqual([502, 2])
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
  })
})

it.each([
  ['no answer', () => [Buffer.alloc(33 * MIB, 'x')]],
  ['an error', () => ['{"code":500,', '"message":"', Buffer.alloc(33 * MIB, 'x'), '"}']],
])('a body that is %s costs nothing, and the next channel is tried', async (_case, body) => {
  for (const channelId of [2, 3]) {
    await rig.addChannel(channelId, { type: 8, baseUrl: provider.url, models: [MODEL] })
  }
  const headers = { 'content-type': 'application/json' }
  const pieces = body().map((piece) => Buffer.from(piece))
  provider.answers.set('POST /v1/chat/completions', { headers, pieces })
  expect((await chat(rig, { model: MODEL })).status).toBe(502)
  expect((await onlyEnd(rig)).type).toBe('CallReleased')
  expect(provider.requests).toHaveLength(2)
})

it('a converted answer that is too large to be converted is charged by its usage', async () => {
  await rig.addChannel(2, { type: 14, baseUrl: provider.url, models: [CLAUDE] })
  const content = [{ type: 'text', text: 'z'.repeat(9 * MIB) }]
  const usage = { input_tokens: 12, output_tokens: 3_000 }
  const body = { id: 'msg_1', type: 'message', role: 'assistant', model: CLAUDE, content, usage }
  provider.answers.set('POST /v1/messages', { body: { ...body, stop_reason: 'end_turn' } })
  const answer = await chat(rig, { model: CLAUDE, max_tokens: 4_000 })
  expect([answer.status, errorOf(answer).code]).toEqual([502, 'upstream_too_large'])
  expect(errorOf(answer).message).toContain('8 MiB')
  const end = await onlyEnd(rig)
  expect([end.type, end.data]).toMatchObject([
    'CallSettled',
    { end: 'incomplete', usage: { inputUncached: 12, output: 3_000 } },
  ])
})

it('an answer that is too large says nothing against the channel', () => {
  const end = { kind: 'failed', status: 200, error: 'too-large', body: Buffer.alloc(0) } as const
  expect(outcomeOf({ ...end, retryAfterMs: 0, tail: Buffer.from('{}') })).toBe('nothing')
  expect(outcomeOf({ ...end, retryAfterMs: 0, hasBegun: true })).toBe('nothing')
})

describe('the end of an answer', () => {
  const lastMembers = (text: string): unknown =>
    JSON.parse(lastMembersOf(Buffer.from(text)).toString())

  it.each([
    ['cut within a text', 'ab\\", {x", "usage": {"a": [1, {"b": 2}]}, "n": 1}\n'],
    ['cut within an object', '"t": "}"}], "usage": {"a": [1, {"b": 2}]}, "n": 1}'],
    ['cut at a backslash', '\\\\", "usage": {"a": [1, {"b": 2}]}, "n": 1}'],
  ])('has the last members if it is %s', (_case, text) => {
    expect(lastMembers(text)).toEqual({ usage: { a: [1, { b: 2 }] }, n: 1 })
  })

  it('has no members of nested objects or texts', () => {
    expect(lastMembers('x", "u": {"usage": {"a": 1}, "b": ", \\"usage\\": {}, "}}')).toEqual({
      u: { usage: { a: 1 }, b: ', "usage": {}, ' },
    })
    expect(lastMembers(`x", "usage": 1 ${' '.repeat(9)}`)).toEqual({})
    expect(lastMembers('no JSON')).toEqual({})
  })

  it('is read up to a limit, and only its last bytes are kept', () => {
    const buffer = new AnswerBuffer()
    const piece = Buffer.from(`1,${' '.repeat(MIB - 2)}`)
    let isRead = buffer.add(piece, 0)
    for (let count = 0; !isRead && count < 255; count += 1) {
      expect(buffer.addToTail(piece)).toBe(true)
      isRead = buffer.add(piece, 0)
    }
    expect(buffer.addToTail(piece)).toBe(true)
    expect(buffer.add(Buffer.from(',"usage":1}'), 0)).toBe(false)
    expect(buffer.addToTail(Buffer.from(',"usage":1}'))).toBe(false)
    expect(buffer.lastMembers().toString()).toBe('{"usage":1}')
  })
})

describe('a stream that ignores its output limit in a tool call', () => {
  const event = (data: { readonly type: string; readonly [name: string]: unknown }) =>
    Buffer.from(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`)
  const usage = { input_tokens: 1_000, output_tokens: 1 }
  const tool = { type: 'tool_use', id: 't', name: 'f', input: {} }
  const delta = { type: 'input_json_delta', partial_json: 'some words of a file '.repeat(50) }
  const pieces = [
    event({ type: 'message_start', message: { id: 'msg_1', content: [], usage } }),
    event({ type: 'content_block_start', index: 0, content_block: tool }),
    ...Array.from({ length: 40 }, () => event({ type: 'content_block_delta', index: 0, delta })),
  ]
  const contents = [{ role: 'user', parts: [{ text: 'q' }] }]
  const declared = [{ functionDeclarations: [{ name: 'f' }] }]
  const messages = [{ role: 'user', content: 'q' }]
  const tools = [{ type: 'function', function: { name: 'f' } }]

  it.each<[string, object, number]>([
    [
      `/v1beta/models/${CLAUDE}:streamGenerateContent?alt=sse`,
      { contents, tools: declared, generationConfig: { maxOutputTokens: 100 } },
      502,
    ],
    [
      '/v1/chat/completions',
      { model: CLAUDE, stream: true, max_tokens: 100, messages, tools },
      200,
    ],
  ])('is charged, and no other channel is tried: %s', async (path, body, status) => {
    for (const channelId of [2, 3]) {
      await rig.addChannel(channelId, { type: 14, baseUrl: provider.url, models: [CLAUDE] })
    }
    const headers = { 'content-type': 'text/event-stream' }
    provider.answers.set('POST /v1/messages', { headers, pieces, keepsOpen: true })
    const answer = await fetch(`${rig.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(answer.status).toBe(status)
    expect((await answer.text()).toLowerCase()).toContain('output_limit_ignored')
    expect(provider.requests).toHaveLength(1)
    const { type, data } = await onlyEnd(rig)
    const charged = { end: 'incomplete', usage: { inputUncached: 1_000, output: 1_252 } }
    expect([type, data]).toMatchObject(['CallSettled', charged])
  })
})
