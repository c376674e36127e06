import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { OPENAI_SPEECH } from '#relay/dialects/openai-audio/speech-format.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, KEY, onlyEnd, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const MINIMAX = 35
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

describe('a plain answer with status 200 that is an error in a format of its own', () => {
  beforeEach(async () => {
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
    await rig.setOption('ModelRatio', { m: 1 })
    await rig.setOption('RetryTimes', '1')
    for (const channelId of [2, 3]) {
      await rig.addChannel(channelId, { type: MINIMAX, baseUrl: provider.url, models: ['m'] })
    }
  })

  const base_resp = { status_code: 1004, status_msg: 'login fail' }
  it.each([
    ['without the members of an answer', { base_resp }],
    ['with empty members', { choices: null, base_resp }],
    ['with a detail', { detail: 'not now' }],
    ['without choices', { id: 'c', object: 'chat.completion', choices: [] }],
    ['without choices, and with a usage of 0', { choices: [], usage: { prompt_tokens: 0 } }],
  ])('costs nothing, and the next channel is tried: %s', async (_, body) => {
    provider.answers.set('*', { body })
    const before = await rig.balance()
    expect((await chat(rig, { model: 'm' })).status).toBe(502)
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
    expect(await rig.balance()).toBe(before)
    expect(provider.requests).toHaveLength(2)
  })
})

const FAILED_CHOICE = {
  ...{ index: 0, finish_reason: 'error', error: { code: 502, message: 'up' } },
  message: { role: 'assistant', content: '' },
}
const STREAMED = { 'content-type': 'text/event-stream' }
const DONE = 'data: [DONE]\n\n'
const dataOf = (data: object) => `data: ${JSON.stringify(data)}\n\n`

/** Two channels. The first fails, and the second answers. */
const addTwoChannels = async (type = 20) => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.setOption('ModelRatio', { m: 1 })
  await rig.setOption('RetryTimes', '1')
  await rig.addChannel(2, { type, baseUrl: provider.url, models: ['m'], priority: 1 })
  await rig.addChannel(3, { type, baseUrl: `${provider.url}/other`, models: ['m'] })
}

const post = async (path: string, body: object) => {
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}
const asked = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
const CALLS: readonly (readonly [string, object])[] = [
  ['/v1/chat/completions', asked],
  ['/v1/messages', { ...asked, max_tokens: 5 }],
  ['/v1/completions', { model: 'm', prompt: 'Hi' }],
]

describe('an answer with status 200 whose choice has failed', () => {
  beforeEach(() => addTwoChannels())

  it.each(CALLS)('costs nothing, and the next channel is tried: %s', async (path, body) => {
    provider.answers.set('*', { body: { id: 'g', choices: [FAILED_CHOICE] } })
    const before = await rig.balance()
    const { status, text } = await post(path, body)
    expect(status).toBe(502)
    expect(text).toContain('"message":"up"')
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
    expect(await rig.balance()).toBe(before)
    expect(provider.requests).toHaveLength(2)
  })

  it.each(CALLS)('costs nothing as a stream, and the next one is tried: %s', async (path, body) => {
    const event = dataOf({ id: 'g', choices: [{ ...FAILED_CHOICE, delta: { content: '' } }] })
    provider.answers.set('*', { headers: STREAMED, pieces: [Buffer.from(event + DONE)] })
    const before = await rig.balance()
    const { status, text } = await post(path, { ...body, stream: true })
    expect(status).toBe(502)
    expect(text).toContain('"message":"up"')
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
    expect(await rig.balance()).toBe(before)
    expect(provider.requests).toHaveLength(2)
  })

  it('is an error also with a finish reason alone', async () => {
    const { error: _, ...choice } = FAILED_CHOICE
    provider.answers.set('*', { body: { id: 'g', choices: [choice] } })
    expect((await chat(rig, { model: 'm' })).status).toBe(502)
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
  })

  it.each(CALLS)('is charged by its usage, and its error is sent: %s', async (path, body) => {
    const usage = { prompt_tokens: 7, completion_tokens: 1, total_tokens: 8 }
    provider.answers.set('*', { body: { id: 'g', choices: [FAILED_CHOICE], usage } })
    const { status, text } = await post(path, body)
    expect(status).toBe(502)
    expect(text).toContain('"message":"up"')
    const { type, data } = await onlyEnd(rig)
    expect([type, data]).toMatchObject(['CallSettled', { usage: { inputUncached: 7, output: 1 } }])
  })

  it('ends a stream that has begun with the error, and charges the delivered part', async () => {
    const said = dataOf({ choices: [{ index: 0, delta: { content: 'some words' } }] })
    const event = dataOf({ choices: [{ ...FAILED_CHOICE, delta: {} }] })
    provider.answers.set('*', { headers: STREAMED, pieces: [Buffer.from(said + event + DONE)] })
    const { text } = await chat(rig, { model: 'm', stream: true })
    expect(text).toContain('"message":"up"')
    expect(text).not.toContain('[DONE]')
    const { data } = await onlyEnd(rig)
    expect(data).toMatchObject({ end: 'upstream-error', usage: { inputUncached: 0, output: 2 } })
    expect(provider.requests).toHaveLength(1)
  })
})

describe('an answer that the provider has interrupted', () => {
  beforeEach(() => addTwoChannels())
  const choice = { index: 0, finish_reason: 'insufficient_system_resource' }

  it.each([false, true])('is charged by its delivered part (as a stream: %s)', async (stream) => {
    const said = { role: 'assistant', content: 'some words' }
    const event = dataOf({ id: 'g', choices: [{ ...choice, delta: said }] })
    const streamed = { headers: STREAMED, pieces: [Buffer.from(event + DONE)] }
    const plain = { body: { id: 'g', choices: [{ ...choice, message: said }] } }
    provider.answers.set('*', stream ? streamed : plain)
    const { status, text } = await post('/v1/messages', { ...asked, max_tokens: 5, stream })
    expect([status, text]).toEqual([200, expect.stringContaining('"stop_reason":"max_tokens"')])
    expect(text).toContain('some words')
    expect((await onlyEnd(rig)).data).toMatchObject({ end: 'done', usage: { output: 2 } })
    expect(provider.requests).toHaveLength(1)
  })

  const empty = { role: 'assistant', content: '', tool_calls: [] }
  it.each(CALLS)('costs nothing without content, and is tried again: %s', async (path, body) => {
    const before = await rig.balance()
    const event = dataOf({ id: 'g', choices: [{ ...choice, delta: empty }] })
    for (const answer of [
      { body: { id: 'g', choices: [{ ...choice, message: empty, text: '' }] } },
      { headers: STREAMED, pieces: [Buffer.from(event + DONE)] },
    ]) {
      provider.answers.set('*', answer)
      expect(await post(path, { ...body, stream: 'pieces' in answer })).toMatchObject({
        status: 502,
      })
    }
    const ends = (await rig.callEvents()).filter(({ type }) => type === 'CallReleased')
    expect([ends.length, await rig.balance()]).toEqual([2, before])
    expect(provider.requests).toHaveLength(4)
  })

  const role = dataOf({ id: 'g', choices: [{ index: 0, delta: empty, finish_reason: null }] })
  it.each(CALLS)('costs nothing after a role without content: %s', async (path, body) => {
    const before = await rig.balance()
    const reason = dataOf({ id: 'g', choices: [{ ...choice, delta: {} }] })
    for (const events of [role + reason + DONE, role + role + reason + DONE, role + DONE, role]) {
      provider.answers.set('*', { headers: STREAMED, pieces: [Buffer.from(events)] })
      expect((await post(path, { ...body, stream: true })).status).toBe(502)
    }
    const ends = (await rig.callEvents()).filter(({ type }) => type === 'CallReleased')
    expect([ends.length, await rig.balance()]).toEqual([4, before])
    expect(provider.requests).toHaveLength(8)
  })

  it('is charged after a role if the provider reports usage', async () => {
    const usage = dataOf({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 0 } })
    const pieces = [Buffer.from(role + usage + DONE)]
    provider.answers.set('*', { headers: STREAMED, pieces })
    const { status, text } = await chat(rig, { model: 'm', stream: true })
    expect([status, text]).toEqual([200, role + DONE])
    expect((await onlyEnd(rig)).data).toMatchObject({ end: 'done', usage: { inputUncached: 7 } })
  })

  /**
   * Sends a streamed chat whose provider sends `first`, and sends `last` only once the response has
   * begun.
   */
  const streamInTwoParts = async (first: string, last: string) => {
    const begun = Promise.withResolvers<void>()
    const pieces = [Buffer.from(first), Buffer.from(last)]
    provider.answers.set('*', { headers: STREAMED, pieces, pause: begun.promise })
    const response = await fetch(`${rig.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...asked, stream: true }),
    })
    begun.resolve()
    expect(response.status).toBe(200)
    return response.text()
  }

  it.each(['', ': thinking\n\n', role])(
    'has begun a second after its role (then %o)',
    async (next) => {
      const said = dataOf({ id: 'g', choices: [{ index: 0, delta: { content: 'yes' } }] }) + DONE
      expect(await streamInTwoParts(role + next, said)).toBe(role + next + said)
      expect((await onlyEnd(rig)).data).toMatchObject({ end: 'done', usage: { output: 1 } })
      expect(provider.requests).toHaveLength(1)
    },
  )

  it('costs nothing more than a second after a role without content', async () => {
    const before = await rig.balance()
    const reason = dataOf({ id: 'g', choices: [{ ...choice, delta: {} }] })
    const text = await streamInTwoParts(role, reason + DONE)
    expect(text).toContain('upstream_format')
    expect(text).not.toContain('[DONE]')
    expect((await onlyEnd(rig)).data).toMatchObject({ end: 'upstream-error', charge: 0 })
    expect(await rig.balance()).toBe(before)
    expect(provider.requests).toHaveLength(1)
  })
})

describe('a plain answer with status 200 without any content', () => {
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
  const geminiPath = '/v1beta/models/m:generateContent'
  const messagesBody = { ...asked, max_tokens: 5 }
  const message = { type: 'message', role: 'assistant', content: [], stop_reason: 'end_turn' }
  const response = { id: 'resp_1', object: 'response', status: 'completed', output: [] }
  const failed = { ...response, status: 'failed', error: { code: 'server_error', message: 'no' } }
  const long = { ...response, instructions: 'x'.repeat(50_000) }
  const empty: readonly (readonly [number, string, object, object])[] = [
    [24, geminiPath, { contents }, { candidates: [] }],
    [24, geminiPath, { contents }, { candidates: [], usageMetadata: { promptTokenCount: 0 } }],
    [24, '/v1/chat/completions', asked, { candidates: [], modelVersion: 'm' }],
    [14, '/v1/messages', messagesBody, { content: [] }],
    [14, '/v1/messages', messagesBody, message],
    [14, '/v1/chat/completions', asked, { ...message, usage: { input_tokens: 0 } }],
    [1, '/v1/responses', { model: 'm', input: 'Hi' }, response],
    [1, '/v1/responses', { model: 'm', input: 'Hi' }, long],
    [1, '/v1/responses', { model: 'm', input: 'Hi' }, { ...failed, usage: { input_tokens: 0 } }],
  ]

  it.each(empty)(
    'costs nothing in a channel of type %i at %s',
    async (type, path, body, answer) => {
      await addTwoChannels(type)
      provider.answers.set('*', { body: answer })
      const before = await rig.balance()
      expect(await post(path, body)).toMatchObject({ status: 502 })
      expect((await onlyEnd(rig)).type).toBe('CallReleased')
      expect(await rig.balance()).toBe(before)
      expect(provider.requests).toHaveLength(2)
    },
  )

  const usage = { input_tokens: 7, output_tokens: 2 }
  const usageMetadata = { promptTokenCount: 7, thoughtsTokenCount: 2, totalTokenCount: 9 }
  const used: typeof empty = [
    [24, geminiPath, { contents }, { candidates: [], usageMetadata }],
    // Google omits empty lists.
    [24, geminiPath, { contents }, { usageMetadata, modelVersion: 'm' }],
    [24, '/v1/chat/completions', asked, { usageMetadata, modelVersion: 'm' }],
    [14, '/v1/messages', messagesBody, { ...message, usage }],
    [1, '/v1/responses', { model: 'm', input: 'Hi' }, { ...response, usage }],
  ]

  it.each(used)(
    'is charged by its usage at channel type %i at %s',
    async (type, path, body, answer) => {
      await addTwoChannels(type)
      provider.answers.set('*', { body: answer })
      expect(await post(path, body)).toMatchObject({ status: 200 })
      expect((await onlyEnd(rig)).data).toMatchObject({ usage: { inputUncached: 7, output: 2 } })
      expect(provider.requests).toHaveLength(1)
    },
  )

  it('is passed on if it says why Gemini blocked the prompt', async () => {
    await addTwoChannels(24)
    provider.answers.set('*', {
      body: { candidates: [], promptFeedback: { blockReason: 'SAFETY' } },
    })
    expect(await post(geminiPath, { contents })).toMatchObject({ status: 200 })
    expect(provider.requests).toHaveLength(1)
  })
})

describe('a stream with status 200 without an answer', () => {
  const vllm = { object: 'error', message: 'too long', type: 'BadRequestError', code: 400 }
  const busy = { code: 50501, message: 'System error', data: null }
  const comment = ': processing\n\n'
  const filter = dataOf({ choices: [], prompt_filter_results: [] })
  const chats: readonly (readonly [string, string, string])[] = [
    ['an error of vLLM', dataOf(vllm), 'too long'],
    ['an error with a code', dataOf(busy), 'System error'],
    ['an error after a comment and a filter result', comment + filter + dataOf(busy), 'System'],
    ['nothing', '', 'error'],
    ['a comment', comment, 'error'],
    ['a list without choices', dataOf({ choices: [] }), 'error'],
    ['a usage of 0', dataOf({ choices: [], usage: { prompt_tokens: 0 } }), 'error'],
    ['no JSON', 'data: busy\n\n', 'error'],
    ['a code of success', dataOf({ code: 0, message: 'it works' }), 'answer'],
    ['an error without a code', dataOf({ success: false, message: 'Try later' }), 'Try later'],
    ['a list of errors', dataOf({ errors: [{ message: 'No route' }] }), 'No route'],
  ]
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
  const others: readonly (readonly [number, string, object, string])[] = [
    [24, '/v1beta/models/m:streamGenerateContent?alt=sse', { contents }, '{"candidates":[]}'],
    [24, '/v1/chat/completions', { ...asked, stream: true }, '{"candidates":[]}'],
    [14, '/v1/messages', { ...asked, max_tokens: 5, stream: true }, '{"code":500,"msg":"no"}'],
    [14, '/v1/messages', { ...asked, max_tokens: 5, stream: true }, '{"type":"message_stop"}'],
    [1, '/v1/responses', { model: 'm', input: 'Hi', stream: true }, '{"code":500,"message":"no"}'],
    [1, '/v1/responses', { model: 'm', input: 'Hi', stream: true }, '[DONE]'],
  ]

  const expectFree = async (path: string, body: object) => {
    const before = await rig.balance()
    const { status, text } = await post(path, body)
    expect([status, text]).toMatchObject([502, expect.any(String)])
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
    expect(await rig.balance()).toBe(before)
    expect(provider.requests).toHaveLength(2)
    return text
  }

  it.each(chats)('costs nothing, and the next channel is tried: %s', async (_, events, message) => {
    await addTwoChannels(8)
    provider.answers.set('*', { headers: STREAMED, pieces: [Buffer.from(events + DONE)] })
    expect(await expectFree('/v1/chat/completions', { ...asked, stream: true })).toContain(message)
  })

  it.each(chats)('costs nothing if its connection closes: %s', async (_, events, message) => {
    await addTwoChannels(8)
    provider.answers.set('*', { headers: STREAMED, pieces: [Buffer.from(events)] })
    expect(
      await expectFree('/v1/completions', { model: 'm', prompt: 'Hi', stream: true }),
    ).toContain(message)
  })

  it.each(others)(
    'costs nothing in a channel of type %i at %s',
    async (type, path, body, event) => {
      await addTwoChannels(type)
      const pieces = [Buffer.from(`data: ${event}\n\n`)]
      provider.answers.set('*', { headers: STREAMED, pieces })
      await expectFree(path, body)
    },
  )

  it('is charged by the usage that the provider reports', async () => {
    await addTwoChannels(8)
    const events = dataOf({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 0 } })
    const pieces = [Buffer.from(comment + filter + events + DONE)]
    provider.answers.set('*', { headers: STREAMED, pieces })
    const { status, text } = await chat(rig, { model: 'm', stream: true })
    expect([status, text]).toEqual([200, comment + filter + DONE])
    expect((await onlyEnd(rig)).data).toMatchObject({
      end: 'done',
      usage: { inputUncached: 7, output: 0 },
    })
  })

  it('is not mistaken for one whose answer follows other events', async () => {
    await addTwoChannels(8)
    const answer = dataOf({ choices: [{ index: 0, delta: { content: 'yes' } }] })
    const events = comment + filter + dataOf(busy) + answer + DONE
    for (const pieces of [[events], events.split(/(?<=\n\n)/)]) {
      const bytes = pieces.map((piece) => Buffer.from(piece))
      provider.answers.set('*', { headers: STREAMED, pieces: bytes })
      expect((await chat(rig, { model: 'm', stream: true })).text).toBe(events)
    }
  })
})

describe('a stream with status 200 that begins with an error', () => {
  const MODEL = 'm'

  beforeEach(async () => {
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
    await rig.setOption('ModelRatio', { [MODEL]: 1 })
    await rig.addChannel(2, { type: 8, baseUrl: provider.url, models: [MODEL] })
  })

  /** Sends the same question in the format of each caller. */
  const ask = async (path: string, body: object, error: object) => {
    const piece = Buffer.from(`data: ${JSON.stringify({ error })}\n\n`)
    provider.answers.set('*', { headers: { 'content-type': 'text/event-stream' }, pieces: [piece] })
    const response = await fetch(`${rig.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: await response.json() }
  }
  const messages = [{ role: 'user', content: 'Hi' }]
  const chatOf = { model: MODEL, stream: true, messages }
  const geminiPath = `/v1beta/models/${MODEL}:streamGenerateContent?alt=sse`
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]

  // Clients retry by the type or the status in the body. A success status would tell them that
  // their request is invalid.
  it('is an error of the server for callers of every format', async () => {
    const error = { message: 'Failed', code: 'unexpected' }
    const [ofChat, ofMessages, ofResponses, ofGemini] = [
      await ask('/v1/chat/completions', chatOf, error),
      await ask('/v1/messages', { ...chatOf, max_tokens: 5 }, error),
      await ask('/v1/responses', { model: MODEL, stream: true, input: 'Hi' }, error),
      await ask(geminiPath, { contents }, error),
    ]
    for (const { status } of [ofChat, ofMessages, ofResponses, ofGemini]) expect(status).toBe(502)
    expect(ofChat.body).toEqual({ error })
    expect(ofMessages.body.error).toEqual({ type: 'api_error', message: 'Failed' })
    expect(ofResponses.body.error).toMatchObject({ type: 'server_error', message: 'Failed' })
    expect(ofGemini.body.error).toEqual({ code: 502, message: 'Failed', status: 'UNAVAILABLE' })
  })

  it('has the same status if Gemini’s error has a code of its own', async () => {
    await rig.addChannel(3, { type: 24, baseUrl: provider.url, models: ['gemini'] })
    await rig.setOption('ModelRatio', { gemini: 1 })
    const error = { code: 500, message: 'Failed', status: 'INTERNAL' }
    const path = '/v1beta/models/gemini:streamGenerateContent?alt=sse'
    const native = await ask(path, { contents }, error)
    expect([native.status, native.body.error]).toEqual([502, error])
    const chatOfGemini = await ask('/v1/chat/completions', { ...chatOf, model: 'gemini' }, error)
    expect(chatOfGemini.status).toBe(502)
  })

  // The provider answered with status 200, and the status 502 is the gateway's.
  it('without a message names no status of the provider', async () => {
    const { body } = await ask('/v1/messages', { ...chatOf, max_tokens: 5 }, { code: 7 })
    expect(body.error.message).toBe('The provider answered with an error.')
  })
})

describe('a converted stream that fails after its first event', () => {
  const usage = { input_tokens: 3, output_tokens: 1 }
  const event = (data: { readonly type: string; readonly [name: string]: unknown }) =>
    Buffer.from(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`)
  const begun = event({ type: 'message_start', message: { id: 'msg_1', content: [], usage } })
  const overloaded = { type: 'overloaded_error', message: 'Overloaded' }
  const text = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'yes' } }
  const answer = [
    begun,
    event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    event(text),
    event({ type: 'content_block_stop', index: 0 }),
    event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage }),
    event({ type: 'message_stop' }),
  ]

  const overload = event({ type: 'error', error: overloaded })

  /** Sends a streamed chat. The first channel answers with `failed`, and the second with `last`. */
  const askTwoChannels = async (failed: readonly Buffer[], last = answer) => {
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
    await rig.setOption('ModelRatio', { m: 1 })
    await rig.setOption('RetryTimes', '1')
    const shared = { type: 14, models: ['m'] }
    await rig.addChannel(2, { ...shared, baseUrl: provider.url, priority: 1 })
    await rig.addChannel(3, { ...shared, baseUrl: `${provider.url}/other` })
    const headers = { 'content-type': 'text/event-stream' }
    provider.answers.set('POST /v1/messages', { headers, pieces: failed })
    provider.answers.set('POST /other/v1/messages', { headers, pieces: last })
    return chat(rig, { model: 'm', stream: true })
  }

  // Anthropic often reports an overload only after `message_start`, which has no content.
  it('is sent to another channel, because a caller of chats has received nothing', async () => {
    const { status, text: stream } = await askTwoChannels([begun, overload])
    expect(status).toBe(200)
    expect(stream).toContain('"content":"yes"')
    expect(stream.match(/"role":"assistant"/g)).toHaveLength(1)
    expect(stream).not.toContain('Overloaded')
    expect((await onlyEnd(rig)).data).toMatchObject({ channelId: 3, end: 'done' })
  })

  // Both channels share the conversion of the request, which collects what an answer loses.
  const delta = { type: 'citations_delta', citation: { type: 'char_location' } }
  const cited = event({ type: 'content_block_delta', index: 0, delta })

  it('leaves no losses of its content to the answer of the next channel', async () => {
    expect((await askTwoChannels([begun, cited, overload])).text).toContain('"content":"yes"')
    const { data } = await onlyEnd(rig)
    expect(data).toMatchObject({ channelId: 3, end: 'done' })
    expect(JSON.stringify(data)).not.toContain('citations')
  })

  it('has no losses of an answer if its call ends without one', async () => {
    const failed = [begun, cited, overload]
    expect((await askTwoChannels(failed, failed)).status).toBe(503)
    const { type, data } = await onlyEnd(rig)
    expect(type).toBe('CallReleased')
    expect(JSON.stringify(data)).not.toContain('citations')
  })
})

describe('the error event with which a stream begins', () => {
  const tooLong = { code: 'context_length_exceeded', message: 'too long' }
  const chatOf = { ...asked, stream: true }
  const messageOf = { ...chatOf, max_tokens: 5 }
  const contents = { contents: [{ parts: [{ text: 'Hi' }] }] }
  const gemini = '/v1beta/models/m:streamGenerateContent?alt=sse'

  it.each([
    ['/v1/chat/completions', chatOf, { code: 'slow_down', message: 'x' }, 503],
    ['/v1/chat/completions', chatOf, { code: 'rate_limit_exceeded', message: 'x' }, 429],
    ['/v1/chat/completions', chatOf, { code: 'timeout_error', message: 'x' }, 504],
    ['/v1/chat/completions', chatOf, { code: 'server_error', message: 'x' }, 502],
    ['/v1/chat/completions', chatOf, tooLong, 400],
    ['/v1/messages', messageOf, { code: 'slow_down', message: 'x' }, 529],
    [gemini, contents, { code: 'slow_down', message: 'x' }, 503],
    [gemini, contents, { code: 'rate_limit_exceeded', message: 'x' }, 429],
  ])('gives %s with %o the status of %o', async (path, body, error, expected) => {
    await addTwoChannels()
    provider.answers.set('*', { headers: STREAMED, pieces: [Buffer.from(dataOf({ error }))] })
    const { status, text } = await post(path, body)
    expect([status, provider.requests.length]).toEqual([expected, 2])
    if (path === gemini) expect(JSON.parse(text).error.code ?? JSON.parse(text)[0]).toBe(expected)
    expect((await onlyEnd(rig)).data).toMatchObject({ statusCode: expected })
  })

  it('opens no circuit if the input was too long', async () => {
    await addTwoChannels()
    const pieces = [Buffer.from(dataOf({ error: tooLong }))]
    provider.answers.set('*', { headers: STREAMED, pieces })
    for (let call = 0; call < 12; call++) {
      expect((await post('/v1/chat/completions', chatOf)).status).toBe(400)
    }
    expect(provider.requests).toHaveLength(24)
    // Only later failures open the circuit.
    provider.answers.set('*', { status: 503 })
    for (let call = 0; call < 5; call++) await post('/v1/chat/completions', chatOf)
    const events = () => rig.core.store.readStream('channel-health-2')
    await expect.poll(async () => (await events()).length).toBe(1)
    expect((await events())[0]?.data).toMatchObject({ reason: 'status-503', round: 1 })
  })
})

describe('the stream_format of speech', () => {
  const read = (value: string) =>
    OPENAI_SPEECH.readRequest(
      Buffer.from(`{"model":"tts-1","input":"hello","stream_format":${value}}`),
      null,
    )

  it.each([
    ['"sse"', true],
    ['"\\u0073se"', true],
    ['"audio"', false],
    ['null', false],
  ])('%s is a stream: %s', (value, isStream) => {
    expect(read(value)).toMatchObject({ isStream })
  })

  it.each(['"SSE"', '"event-stream"', '""'])('%s is refused', (value) => {
    const request = read(value)
    expect(isRelayError(request) && JSON.stringify(request)).toMatch(
      /value_not_possible.*stream_format/,
    )
  })
})
