import OpenAI from 'openai'
import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { serve } from '#test/support/start-http-server.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, PROVIDER_KEY, relayRig, TOKEN, USER } from './support/relay-rig.ts'
import {
  BEGUN,
  CALL,
  CALL_STREAM,
  CHARGE,
  dataOf,
  ENDED,
  ENDED_TEXT,
  event,
  MODEL,
  PATH,
  REQUEST,
  responseOf,
  STREAM,
  TEXT,
  textDelta,
  USAGE,
} from './support/responses-provider.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const MIB = 1024 * 1024
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 1, baseUrl: provider.url, models: [MODEL] })
  await rig.setOption('ModelRatio', { [MODEL]: 1.25 })
  await rig.setOption('CompletionRatio', { [MODEL]: 4 })
  await rig.setOption('CacheRatio', { [MODEL]: 0.5 })
})

const answerWith = (text: string, type = 'text/event-stream') =>
  provider.answers.set(PATH, {
    headers: { 'content-type': type },
    pieces: [Buffer.from(text)],
  })

type Sent = { readonly headers?: Record<string, string>; readonly path?: string }

async function send(body: object = REQUEST, { headers = {}, path = '/v1/responses' }: Sent = {}) {
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, text, headers: response.headers }
}

const STREAMED = { ...REQUEST, stream: true }

const expectBilled = async (charge = CHARGE) => {
  const { type, data } = await onlyEnd(rig)
  expect(type).toBe('CallSettled')
  expect(data).toMatchObject({ charge })
  return data
}

describe('the count of the input of a response', () => {
  const path = '/v1/responses/input_tokens'
  const count = async (body: object) => {
    const { status, text } = await send(body, { path })
    return { status, body: JSON.parse(text) }
  }

  it('is made by the gateway, and costs nothing', async () => {
    const client = new OpenAI({ apiKey: `sk-${KEY}`, baseURL: `${rig.url}/v1`, maxRetries: 0 })
    const before = await rig.balance()
    const input = 'The quick brown fox jumps over the lazy dog. '.repeat(20)
    const counted = await client.responses.inputTokens.count({ model: MODEL, input })
    expect(counted.object).toBe('response.input_tokens')
    expect(counted.input_tokens).toBeGreaterThan(150)
    expect(counted.input_tokens).toBeLessThan(300)
    const { body } = await count({ model: MODEL, input, instructions: input })
    expect(body.input_tokens).toBeGreaterThan(counted.input_tokens * 1.5)
    expect(provider.requests).toHaveLength(0)
    expect(await rig.balance()).toBe(before)
    expect(await rig.callEvents()).toEqual([])
  })

  it('refuses bad input, and names the member', async () => {
    const before = { model: MODEL, input: 'x', previous_response_id: 'resp_1' }
    expect(await count(before)).toMatchObject({
      status: 400,
      body: { error: { param: 'previous_response_id', code: 'stored_input' } },
    })
    expect(await count({ input: 'x' })).toMatchObject({
      status: 400,
      body: { error: { param: 'model' } },
    })
    expect((await count({ model: 'unknown', input: 'x' })).status).toBe(404)
    const get = await fetch(`${rig.url}${path}`)
    expect(get.status).toBe(405)
  })
})

describe('a call of the Responses API', () => {
  it('the provider gets the bytes and the headers of the session', async () => {
    provider.answers.set(PATH, { body: responseOf() })
    const { status, text } = await send(REQUEST, {
      headers: { session_id: 's1', 'x-codex-turn-state': 't', cookie: 'a=b', 'openai-beta': 'b=1' },
    })
    expect(status).toBe(200)
    expect(text).toBe(JSON.stringify(responseOf()))
    const [request] = provider.requests
    expect(request?.body).toBe(JSON.stringify(REQUEST))
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${PROVIDER_KEY}`,
      session_id: 's1',
      'x-codex-turn-state': 't',
      'openai-beta': 'b=1',
    })
    expect(request?.headers.cookie).toBe(undefined)
  })

  it('is billed with cached tokens and reasoning', async () => {
    provider.answers.set(PATH, { body: responseOf() })
    await send()
    expect(await expectBilled()).toMatchObject({
      formats: ['responses'],
      usage: { inputUncached: 400, cacheRead: 600, output: 500, reasoning: 400 },
    })
  })

  it('is streamed, and its last event waits for the bill', async () => {
    answerWith(STREAM)
    const { text, headers } = await send(STREAMED)
    expect(headers.get('content-type')).toContain('text/event-stream')
    expect(text).toBe(STREAM)
    await expectBilled()
  })

  it('gives the same stream and bill if it arrives byte by byte', async () => {
    const pieces = [...Buffer.from(STREAM)].map((byte) => Buffer.from([byte]))
    provider.answers.set(PATH, { headers: { 'content-type': 'text/event-stream' }, pieces })
    const { text } = await send(STREAMED)
    expect(text).toBe(STREAM)
    await expectBilled()
  })

  it('may end with [DONE]', async () => {
    answerWith(`${STREAM}data: [DONE]\n\n`)
    expect((await send(STREAMED)).text).toBe(STREAM)
    await expectBilled()
  })

  it('an incomplete response is billed by its usage', async () => {
    const response = { ...responseOf(), status: 'incomplete' }
    const end = event({ type: 'response.incomplete', response })
    answerWith(BEGUN + textDelta('It') + end)
    expect((await send(STREAMED)).text).toBe(BEGUN + textDelta('It') + end)
    await expectBilled()
  })

  it('a plain answer to a streamed request stays plain', async () => {
    provider.answers.set(PATH, { body: responseOf() })
    expect((await send(STREAMED)).text).toBe(JSON.stringify(responseOf()))
    await expectBilled()
  })

  it('shows the caller the model that it requested', async () => {
    const modelMapping = JSON.stringify({ [MODEL]: 'gpt-6-2026' })
    const terms = { type: 1, baseUrl: provider.url, modelMapping }
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    await rig.addChannel(3, { ...terms, models: [MODEL] })
    answerWith(STREAM.replaceAll(`"model":"${MODEL}"`, '"model":"gpt-6-2026"'))
    expect((await send(STREAMED)).text).toBe(STREAM)
    expect(JSON.parse(provider.requests[0]?.body ?? '')).toMatchObject({ model: 'gpt-6-2026' })
  })

  it('is accepted at the path of chats', async () => {
    answerWith(STREAM)
    const { text } = await send(STREAMED, { path: '/v1/chat/completions' })
    expect(text).toBe(STREAM)
    expect(provider.requests[0]?.path).toBe('/v1/responses')
    await expectBilled()
  })

  it('has no tool that the provider runs', async () => {
    provider.answers.set(PATH, { body: responseOf() })
    const { headers } = await send({ ...REQUEST, tools: [{ type: 'web_search' }] })
    expect(headers.get('x-dropped-members')).toBe('tools')
    expect(JSON.parse(provider.requests[0]?.body ?? '').tools).toBe(undefined)
  })

  it.each(['previous_response_id', 'conversation'])('%s is refused', async (key) => {
    const { status, text } = await send({ ...REQUEST, [key]: 'x_1' })
    expect(status).toBe(400)
    expect(JSON.parse(text)).toMatchObject({ error: { param: key } })
    expect(provider.requests).toEqual([])
  })

  it.each([
    ['plain', false],
    ['streamed', true],
  ])('can be continued if its answer with pictures is very long: %s', async (_name, stream) => {
    const picture = { type: 'image_generation_call', id: 'ig_1', result: 'A'.repeat(6 * MIB) }
    const response = responseOf([picture])
    if (stream) answerWith(BEGUN + event({ type: 'response.completed', response }))
    else provider.answers.set(PATH, { body: response })
    const first = await send({ ...REQUEST, store: true, stream })
    expect(first.status).toBe(200)
    expect(first.text.includes('"output":[{"type":"image_generation_call"')).toBe(true)
    expect(first.text.includes('response.failed')).toBe(false)
    expect((await onlyEnd(rig)).type).toBe('CallSettled')
    provider.answers.set(PATH, { body: responseOf() })
    const next = { ...REQUEST, store: true, previous_response_id: 'resp_1' }
    expect((await send(next)).status).toBe(200)
    expect(JSON.parse(provider.requests.at(-1)?.body ?? '').previous_response_id).toBe('resp_1')
  })

  it('works with the SDK of OpenAI', async () => {
    const client = new OpenAI({ baseURL: `${rig.url}/v1`, apiKey: `sk-${KEY}`, maxRetries: 0 })
    provider.answers.set(PATH, { body: responseOf() })
    const plain = await client.responses.create({ model: MODEL, input: 'Hi' })
    expect(plain.output_text).toBe(TEXT)
    answerWith(CALL_STREAM)
    const stream = client.responses.stream({ model: MODEL, input: 'Hi' })
    const final = await stream.finalResponse()
    expect(final.output).toMatchObject([{ type: 'reasoning' }, CALL])
  })
})

describe('a compaction', () => {
  const COMPACT = { path: '/v1/responses/compact' }
  const BODY = { model: MODEL, instructions: 'Be brief.', input: REQUEST.input }
  const ANSWER = {
    ...{ id: 'resp_1', object: 'response.compaction', created_at: 1, usage: USAGE },
    output: [...REQUEST.input, { id: 'cmp_1', type: 'compaction', encrypted_content: 'gAAA' }],
  }

  it('is a billed call', async () => {
    provider.answers.set('POST /v1/responses/compact', { body: ANSWER })
    const { text } = await send(BODY, COMPACT)
    expect(text).toBe(JSON.stringify(ANSWER))
    expect(provider.requests[0]?.body).toBe(JSON.stringify(BODY))
    await expectBilled()
  })

  it('is refused where the provider has none', async () => {
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    await rig.addChannel(3, { type: 8, baseUrl: provider.url, models: [MODEL] })
    await rig.addChannel(4, { type: 48, baseUrl: provider.url, models: [MODEL] })
    const { status, text } = await send(BODY, COMPACT)
    expect(status).toBe(400)
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'not_convertible', param: 'compact' } })
    expect(provider.requests).toEqual([])
    expect(await rig.callEvents()).toEqual([])
  })

  it.each([{ stream: true }, { max_output_tokens: 100 }])('%j is refused', async (member) => {
    const { status, text } = await send({ ...BODY, ...member }, COMPACT)
    expect(status).toBe(400)
    expect(JSON.parse(text)).toMatchObject({ error: { param: Object.keys(member)[0] } })
  })

  it('needs an account that can pay its whole output, because it has no limit', async () => {
    await rig.setBudget(USER, TOKEN, 5_000n)
    expect((await send(BODY, COMPACT)).status).toBe(402)
    provider.answers.set(PATH, { body: responseOf() })
    expect((await send({ model: MODEL, input: 'Hi' })).status).toBe(200)
    expect(provider.requests).toHaveLength(1)
  })
})

describe('an error of the Responses API', () => {
  const ACCOUNT = 'org-SecretOrganization'
  const error = {
    code: 'rate_limit_exceeded',
    message: `Rate limit of ${ACCOUNT} (${PROVIDER_KEY}). Please try again in 2s.`,
  }
  const failed = (usage: object | null) => ({ ...responseOf([]), status: 'failed', error, usage })

  it('before the answer has the words of the provider, and costs nothing', async () => {
    provider.answers.set(PATH, { status: 400, body: { error: { ...error, type: 'invalid' } } })
    const { status, text } = await send(STREAMED)
    expect(status).toBe(400)
    expect(text).toContain('Please try again in 2s.')
    expect(text).not.toContain(ACCOUNT)
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
  })

  it.each([
    ['response.failed', event({ type: 'response.failed', response: failed(null) })],
    ['error', event({ type: 'error', ...error, param: null })],
    ['error without a name', `data: ${JSON.stringify({ type: 'error', error })}\n\n`],
  ])('%s in a stream is sent to SDKs and to Codex', async (_name, failure) => {
    answerWith(BEGUN + textDelta('It') + failure)
    const { text } = await send(STREAMED)
    expect(text.startsWith(BEGUN + textDelta('It'))).toBe(true)
    const events = dataOf(text).slice(-2)
    const shown = 'Rate limit of *** (***). Please try again in 2s.'
    const { id } = responseOf([])
    expect(events).toMatchObject([
      { type: 'error', code: 'rate_limit_exceeded', message: shown },
      { type: 'response.failed', response: { id, error: { code: 'rate_limit_exceeded' } } },
    ])
    const [before, ...numbers] = dataOf(text)
      .slice(-3)
      .map((one) => Number(one.sequence_number ?? -1))
    expect(numbers).toEqual([Number(before) + 1, Number(before) + 2])
    expect(text).not.toContain(ACCOUNT)
    expect(text).not.toContain(PROVIDER_KEY)
    const { type, data } = await onlyEnd(rig)
    expect(type).toBe('CallSettled')
    expect(data).toMatchObject({ end: 'upstream-error' })
  })

  it('with a usage is billed', async () => {
    answerWith(BEGUN + event({ type: 'response.failed', response: failed(USAGE) }))
    await send(STREAMED)
    await expectBilled()
  })

  it('in a plain answer costs nothing without a usage', async () => {
    provider.answers.set(PATH, { body: failed(null) })
    const { status, text } = await send()
    expect(status).toBe(429)
    expect(text).not.toContain(ACCOUNT)
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
  })

  it('in a plain answer is billed by its usage', async () => {
    provider.answers.set(PATH, { body: failed(USAGE) })
    const { status, text } = await send()
    expect(status).toBe(200)
    expect(JSON.parse(text)).toMatchObject({ status: 'failed', error: { code: error.code } })
    expect(text).not.toContain(ACCOUNT)
    await expectBilled()
  })

  it('a stream that is cut is billed by what arrived', async () => {
    answerWith(BEGUN + textDelta('It says more and more and more.'))
    const { text } = await send(STREAMED)
    expect(dataOf(text).at(-1)).toMatchObject({ type: 'response.failed' })
    const { data } = await onlyEnd(rig)
    expect(data).toMatchObject({ end: 'incomplete' })
    const { usage } = data as { readonly usage?: { inputUncached: number; output: number } }
    expect(usage?.inputUncached).toBeGreaterThan(20)
    expect(usage?.output).toBeGreaterThan(5)
  })

  it('a caller that leaves before the usage is billed by it', async () => {
    let finish = (): void => {}
    const until = new Promise<void>((resolve) => {
      finish = resolve
    })
    const server = await lateProvider(BEGUN + textDelta(TEXT) + ENDED_TEXT, until, ENDED)
    try {
      await rig.append(CHANNELS_STREAM, {
        ...{ type: 'ChannelsDeleted', v: 1 },
        data: { channelIds: [2] },
      })
      await rig.addChannel(3, { type: 1, baseUrl: server.url, models: [MODEL] })
      const leaving = new AbortController()
      const response = await fetch(`${rig.url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify(STREAMED),
        signal: leaving.signal,
      })
      const reader = response.body?.getReader()
      let seen = ''
      while (!seen.includes('response.output_text.done')) {
        seen += Buffer.from((await reader?.read())?.value ?? []).toString()
      }
      leaving.abort()
      await reader?.closed.catch(() => {})
      finish()
      await expect.poll(async () => (await rig.callEvents()).at(-1)?.type).toBe('CallSettled')
      await expectBilled()
    } finally {
      await server.close()
    }
  })
})

async function lateProvider(first: string, until: Promise<void>, last: string) {
  return serve((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(first)
    void until.then(() => response.end(last))
  })
}

describe('a call of the Responses API to a provider of another format', () => {
  const CHAT_USAGE = {
    prompt_tokens: 1_000,
    prompt_tokens_details: { cached_tokens: 600 },
    completion_tokens: 500,
    total_tokens: 1_500,
  }

  beforeEach(async () => {
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    await rig.addChannel(3, { type: 8, baseUrl: provider.url, models: [MODEL] })
  })

  it('is answered as a response', async () => {
    const message = { role: 'assistant', content: TEXT }
    provider.answers.set('POST /v1/chat/completions', {
      body: {
        ...{ id: 'c1', object: 'chat.completion', model: MODEL, usage: CHAT_USAGE },
        choices: [{ index: 0, message, finish_reason: 'stop' }],
      },
    })
    const { text } = await send()
    expect(JSON.parse(text)).toMatchObject({
      ...{ object: 'response', status: 'completed' },
      output: [{ type: 'message', content: [{ type: 'output_text', text: TEXT }] }],
      usage: { input_tokens: 1_000, output_tokens: 500 },
    })
    expect(await expectBilled()).toMatchObject({ formats: ['responses', 'chat'] })
  })

  it('is streamed as the events of a response', async () => {
    const head = { id: 'c1', object: 'chat.completion.chunk', model: MODEL }
    const chunk = (choices: object[], usage: object | null = null) =>
      `data: ${JSON.stringify({ ...head, choices, usage })}\n\n`
    provider.answers.set('POST /v1/chat/completions', {
      headers: { 'content-type': 'text/event-stream' },
      pieces: [
        chunk([{ index: 0, delta: { role: 'assistant', content: TEXT }, finish_reason: null }]),
        chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
        chunk([], CHAT_USAGE),
        'data: [DONE]\n\n',
      ].map((text) => Buffer.from(text)),
    })
    const { text } = await send(STREAMED)
    const types = dataOf(text).map(({ type }) => type)
    expect(types[0]).toBe('response.created')
    expect(types.at(-1)).toBe('response.completed')
    expect(types).toContain('response.output_text.delta')
    await expectBilled()
  })
})
