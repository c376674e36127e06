import Anthropic from '@anthropic-ai/sdk'
import { ApiError, GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const MODEL = 'gemini-3.8-flash'
const METHODS = `/v1beta/models/${MODEL}`
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.setOption('ModelRatio', { [MODEL]: 1, 'sim-small': 1 })
  await rig.setOption('CompletionRatio', { [MODEL]: 4, 'sim-small': 4 })
  await rig.setOption('CacheRatio', { [MODEL]: 0.25, 'sim-small': 0.25 })
})

const USAGE = {
  promptTokenCount: 1000,
  cachedContentTokenCount: 400,
  candidatesTokenCount: 30,
  thoughtsTokenCount: 20,
  totalTokenCount: 1050,
}
const CHARGE = 600 + 100 + 50 * 4
const part = (one: object, others: object = {}) => ({
  candidates: [{ content: { role: 'model', parts: [one] }, index: 0, ...others }],
  modelVersion: MODEL,
  responseId: 'r1',
})
const CALL = { functionCall: { name: 'read', args: { path: 'a.txt' } } }
const ANSWER = {
  candidates: [
    { content: { role: 'model', parts: [{ text: 'I read it.' }, CALL] }, finishReason: 'STOP' },
  ],
  usageMetadata: USAGE,
  modelVersion: MODEL,
  responseId: 'r1',
}
const STREAM = Buffer.from(
  [
    part({ text: 'I read' }),
    part({ text: ' it.' }),
    { ...part(CALL, { finishReason: 'STOP' }), usageMetadata: USAGE },
  ]
    .map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`)
    .join(''),
)

const answerStream = (path: string, pieces: readonly Buffer[]) =>
  provider.answers.set(path, { headers: { 'content-type': 'text/event-stream' }, pieces })
const settled = async () =>
  (await rig.callEvents()).filter(({ type }) => type === 'CallSettled').map(({ data }) => data)

const baseURL = () => rig.url
const openai = () => new OpenAI({ apiKey: `sk-${KEY}`, baseURL: `${rig.url}/v1`, maxRetries: 0 })
const anthropic = () =>
  new Anthropic({ apiKey: `sk-${KEY}`, baseURL: rig.url, maxRetries: 0, logLevel: 'off' })
const google = () => new GoogleGenAI({ apiKey: `sk-${KEY}`, httpOptions: { baseUrl: baseURL() } })

describe('calls of other formats on a Gemini channel', () => {
  beforeEach(() => rig.addChannel(2, { type: 24, baseUrl: provider.url, models: [MODEL] }))
  const chat = {
    model: MODEL,
    messages: [
      { role: 'system' as const, content: 'Be brief.' },
      { role: 'user' as const, content: 'Read a.txt' },
    ],
    max_tokens: 64,
  }
  it.each([
    [{ thinking_budget: 0 }, { thinkingLevel: 'MINIMAL' }],
    [{ thinking_budget: 2_000, include_thoughts: true }, { thinkingBudget: 2_000 }],
    [{ thinkingLevel: 'low' }, { thinkingLevel: 'LOW' }],
  ])('takes Gemini’s own control of thinking from a chat (%o)', async (config, expected) => {
    provider.answers.set(`POST ${METHODS}:generateContent`, { body: ANSWER })
    const extra_body = { google: { thinking_config: config } }
    const response = await fetch(`${rig.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...chat, extra_body }),
    })
    expect(response.status, await response.text()).toBe(200)
    expect(response.headers.get('x-conversion-loss') ?? '').not.toContain('extra_body')
    const { generationConfig } = JSON.parse(provider.requests[0]?.body ?? '')
    expect(generationConfig).toMatchObject({ thinkingConfig: expected })
  })

  /** The most that one picture may cost, as the hold of a picture says. */
  const PICTURE_TOKENS = 6_000
  it.each([40, 24_000])('holds all pictures of %s characters that it sends', async (length) => {
    provider.answers.set(`POST ${METHODS}:generateContent`, { body: ANSWER })
    const picture = `![i](data:image/webp;base64,${'A'.repeat(length)})`
    const count = Math.min(900, Math.floor(100_000 / length))
    const history = { role: 'assistant' as const, content: picture.repeat(count) }
    // The account can't pay for twenty such inputs, so the tokens of the text are counted.
    const POOR = { user: 21, key: 'P'.repeat(48) }
    await rig.addUser(POOR.user)
    await rig.addToken(22, POOR.user, POOR.key)
    await rig.grant(POOR.user, 100_000n)
    const client = new OpenAI({ apiKey: `sk-${POOR.key}`, baseURL: `${rig.url}/v1`, maxRetries: 0 })
    const question = { role: 'user' as const, content: 'Draw it again' }
    const { response } = await client.chat.completions
      .create({ ...chat, messages: [question, history, question] })
      .withResponse()
    const [admission] = await rig.callEvents(POOR.user)
    const sent = provider.requests[0]?.body.split('"inlineData"').length ?? 0
    const hold = admission?.type === 'CallAdmitted' ? Number(admission.data.hold) : 0
    expect(hold).toBeGreaterThanOrEqual((sent - 1) * PICTURE_TOKENS)
    const loss = 'messages[1].content (small pictures as text)'
    expect(response.headers.get('x-conversion-loss')).toBe(length === 40 ? loss : null)
  })

  const TEXT = '1234567890'
  const referring = (count: number, schema: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_none, at) => [`p${at}`, schema]))
  const object = (count: number, schema: unknown, others: object = {}) => ({
    ...{ type: 'object', properties: referring(count, schema) },
    ...others,
  })
  const B = { type: 'string', description: TEXT.repeat(60) }
  const NODE = object(3, { $ref: '#/$defs/node' }, { description: TEXT.repeat(20) })

  it.each([
    ['one definition many times', object(60, { $ref: '#/$defs/B' }, { $defs: { B } })],
    [
      'a definition in a definition',
      {
        ...object(5, { $ref: '#/$defs/A' }),
        $defs: { A: object(5, { $ref: '#/$defs/B' }), B },
      },
    ],
    ['a schema that contains itself', { ...NODE, $defs: { node: NODE } }],
  ])('holds the input of a tool that refers to %s', async (_case, parameters) => {
    const tools = [{ type: 'function' as const, function: { name: 'f', parameters } }]
    const sent = async () => {
      await openai().chat.completions.create({ ...chat, tools })
      return Buffer.byteLength(provider.requests.at(-1)?.body ?? '')
    }
    provider.answers.set(`POST ${METHODS}:generateContent`, { body: ANSWER })
    const length = await sent()
    expect(length).toBeGreaterThan(2 * JSON.stringify({ ...chat, tools }).length)
    // The provider counts one token for each byte, which is the most that it may count.
    const usageMetadata = { promptTokenCount: length, candidatesTokenCount: 1 }
    provider.answers.set(`POST ${METHODS}:generateContent`, { body: { ...ANSWER, usageMetadata } })
    await sent()
    const events = await rig.callEvents()
    const hold = events.flatMap((each) => (each.type === 'CallAdmitted' ? each.data.hold : []))
    const charge = events.flatMap((each) => (each.type === 'CallSettled' ? each.data.charge : []))
    expect(Number(charge.at(-1))).toBeGreaterThanOrEqual(length)
    expect(Number(hold.at(-1))).toBeGreaterThanOrEqual(Number(charge.at(-1)))
  })

  it.each([1n, 2n])(
    'holds the copies of schemas that it counts for %s such calls',
    async (calls) => {
      const parameters = object(9, { $ref: '#/$defs/B' }, { $defs: { B } })
      const tools = [{ type: 'function' as const, function: { name: 'f', parameters } }]
      const texts = [{ role: 'user' as const, content: TEXT.repeat(500) }]
      provider.answers.set(`POST ${METHODS}:generateContent`, { body: ANSWER })
      const POOR = { user: 21, key: 'P'.repeat(48) }
      await rig.addUser(POOR.user)
      await rig.addToken(22, POOR.user, POOR.key)
      await rig.grant(POOR.user, 12_000n * calls)
      const client = new OpenAI({
        apiKey: `sk-${POOR.key}`,
        baseURL: `${rig.url}/v1`,
        maxRetries: 0,
      })
      await client.chat.completions.create({ ...chat, messages: texts, tools })
      const [admission] = await rig.callEvents(POOR.user)
      const hold = admission?.type === 'CallAdmitted' ? Number(admission.data.hold) : 0
      const counted = Math.ceil((provider.requests[0]?.body.length ?? 0) / 3)
      expect(counted).toBeGreaterThan(3_000)
      expect(hold).toBeGreaterThanOrEqual(counted)
    },
  )

  it.each([
    ['a tool that uses a definition once', '', object(1, { $ref: '#/$defs/B' }, { $defs: { B } })],
    ['a text that contains $refs', 'this.$refs.input.focus()', object(1, { type: 'string' })],
  ])('holds little more than is sent for %s', async (_case, content, parameters) => {
    provider.answers.set(`POST ${METHODS}:generateContent`, { body: ANSWER })
    const tools = [{ type: 'function' as const, function: { name: 'f', parameters } }]
    const messages = [{ role: 'user' as const, content: `Hi ${content}` }]
    await openai().chat.completions.create({ ...chat, messages, tools })
    const [admission] = await rig.callEvents()
    const hold = admission?.type === 'CallAdmitted' ? Number(admission.data.hold) : 0
    const length = JSON.stringify({ ...chat, messages, tools }).length
    expect(hold).toBeLessThan(2 * length + chat.max_tokens * 4)
  })

  it('holds the digits of numbers with an exponent', async () => {
    provider.answers.set(`POST ${METHODS}:generateContent`, { body: ANSWER })
    const input = `{"on":true,"off":false,"a":[${Array(900).fill('1e20').join()}]}`
    const call = `{"type":"tool_use","id":"a","name":"f","input":${input}}`
    const turns = `{"role":"user","content":"Hi"},{"role":"assistant","content":[${call}]}`
    const response = await fetch(`${rig.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': `sk-${KEY}`, 'content-type': 'application/json' },
      body: `{"model":"${MODEL}","max_tokens":9,"messages":[${turns},{"role":"user","content":"Hi"}]}`,
    })
    expect(response.status, await response.text()).toBe(200)
    const sent = provider.requests[0]?.body.length ?? 0
    expect(sent).toBeGreaterThan(900 * 20)
    const [admission] = await rig.callEvents()
    const hold = admission?.type === 'CallAdmitted' ? Number(admission.data.hold) : 0
    expect(hold).toBeGreaterThanOrEqual(sent)
    expect(hold).toBeLessThan(2 * sent)
  })

  it.each(['1e20', '1e+20', '1\\\\u006520', '1e\\\\u002b20', '1e2\\\\u0030', '\\\\u0031E20'])(
    'holds the digits of %s in arguments',
    async (number) => {
      provider.answers.set(`POST ${METHODS}:generateContent`, { body: ANSWER })
      const input = `{\\"a\\":[${Array(900).fill(number).join()}]}`.replaceAll('\\\\u', '\\u')
      const call = `{"id":"a","type":"function","function":{"name":"f","arguments":"${input}"}}`
      const turns = `{"role":"user","content":"Hi"},{"role":"assistant","tool_calls":[${call}]}`
      const answer = '{"role":"tool","tool_call_id":"a","content":"Yes"}'
      const response = await fetch(`${rig.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
        body: `{"model":"${MODEL}","max_tokens":9,"messages":[${turns},${answer}]}`,
      })
      expect(response.status, await response.text()).toBe(200)
      const sent = provider.requests[0]?.body.length ?? 0
      expect(sent).toBeGreaterThan(900 * 20)
      const [admission] = await rig.callEvents()
      const hold = admission?.type === 'CallAdmitted' ? Number(admission.data.hold) : 0
      expect(hold).toBeGreaterThanOrEqual(sent)
      expect(hold).toBeLessThan(2.1 * sent)
    },
  )

  it.each(['\\u002B', '5\\u002B3 ', '\\u0e40\\u0e01', 'caf\\u00e9 '])(
    'holds no digits for %s in a text, which is not a number',
    async (escaped) => {
      provider.answers.set(`POST ${METHODS}:generateContent`, { body: ANSWER })
      const content = escaped.repeat(900)
      for (const text of [content, 'x'.repeat(content.length)]) {
        const response = await fetch(`${rig.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
          body: `{"model":"${MODEL}","max_tokens":9,"messages":[{"role":"user","content":"${text}"}]}`,
        })
        expect(response.status, await response.text()).toBe(200)
      }
      const events = await rig.callEvents()
      const holds = events.flatMap((e) => (e.type === 'CallAdmitted' ? [e.data.hold] : []))
      expect(holds).toHaveLength(2)
      expect(holds[0]).toBe(holds[1])
    },
  )

  it('refuses a tool whose references multiply its schema', async () => {
    const $defs = { A: object(40, { $ref: '#/$defs/B' }), B }
    const parameters = { ...object(40, { $ref: '#/$defs/A' }), $defs }
    const tools = [{ type: 'function' as const, function: { name: 'search', parameters } }]
    const refusal = await openai()
      .chat.completions.create({ ...chat, tools })
      .catch((error) => error)
    expect(refusal).toMatchObject({ status: 400, code: 'schema_too_large' })
    expect(refusal.message).toContain("'tools[].function.parameters (search)'")
    expect(provider.requests).toEqual([])
    expect(await rig.callEvents()).toEqual([])
  })

  const messages = {
    model: MODEL,
    max_tokens: 64,
    system: 'Be brief.',
    messages: [{ role: 'user' as const, content: 'Read a.txt' }],
  }

  it('a chat is converted in both directions and billed by the provider’s usage', async () => {
    provider.answers.set(`POST ${METHODS}:generateContent`, { body: ANSWER })
    const { choices, usage, model } = await openai().chat.completions.create(chat)
    expect(JSON.parse(provider.requests[0]?.body ?? '')).toMatchObject({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [{ role: 'user', parts: [{ text: 'Read a.txt' }] }],
      generationConfig: { maxOutputTokens: 64 },
    })
    expect(model).toBe(MODEL)
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: 'I read it.',
        tool_calls: [{ function: { name: 'read', arguments: '{"path":"a.txt"}' } }],
      },
    })
    expect(usage).toMatchObject({
      prompt_tokens: 1000,
      completion_tokens: 50,
      prompt_tokens_details: { cached_tokens: 400 },
    })
    expect((await onlyEnd(rig)).data).toMatchObject({
      charge: CHARGE,
      formats: ['chat', 'gemini'],
      usageSource: 'upstream',
    })
  })

  it('a stream, split at any byte, is read by the official clients', async () => {
    for (let at = 1; at < STREAM.length; at += 37) {
      const path = `POST ${METHODS}:streamGenerateContent`
      answerStream(path, [STREAM.subarray(0, at), STREAM.subarray(at)])
      const { choices, usage } = await openai()
        .chat.completions.stream({ ...chat, stream_options: { include_usage: true } })
        .finalChatCompletion()
      expect(choices[0]?.message).toMatchObject({ content: 'I read it.' })
      expect(choices[0]?.finish_reason).toBe('tool_calls')
      expect(usage).toMatchObject({ prompt_tokens: 1000, completion_tokens: 50 })
      const message = await anthropic().messages.stream(messages).finalMessage()
      expect(message.content).toMatchObject([
        { type: 'text', text: 'I read it.' },
        { type: 'tool_use', name: 'read', input: { path: 'a.txt' } },
      ])
      expect(message.stop_reason).toBe('tool_use')
    }
    for (const data of await settled()) expect(data).toMatchObject({ charge: CHARGE, end: 'done' })
  })

  it('a stream that is cut ends with an error, and the delivered text is charged', async () => {
    answerStream(`POST ${METHODS}:streamGenerateContent`, [STREAM.subarray(0, 200)])
    const stream = openai().chat.completions.stream(chat)
    await expect(stream.finalChatCompletion()).rejects.toThrow()
    expect((await onlyEnd(rig)).data).toMatchObject({ end: 'incomplete' })
  })
})

describe('the official client of Google', () => {
  const contents = 'Read a.txt'
  const config = { maxOutputTokens: 64 }

  it('on a Gemini channel reads an answer, a stream, a count and the models', async () => {
    await rig.addChannel(2, { type: 24, baseUrl: provider.url, models: [MODEL] })
    provider.answers.set(`POST ${METHODS}:generateContent`, { body: ANSWER })
    const answer = await google().models.generateContent({ model: MODEL, contents, config })
    expect(answer.functionCalls).toEqual([{ name: 'read', args: { path: 'a.txt' } }])
    answerStream(`POST ${METHODS}:streamGenerateContent`, [STREAM])
    let text = ''
    let total: number | undefined
    const stream = await google().models.generateContentStream({ model: MODEL, contents, config })
    for await (const chunk of stream) {
      for (const { text: piece } of chunk.candidates?.[0]?.content?.parts ?? []) text += piece ?? ''
      total = chunk.usageMetadata?.totalTokenCount ?? total
    }
    expect({ text, total }).toEqual({ text: 'I read it.', total: 1050 })
    const { totalTokens } = await google().models.countTokens({ model: MODEL, contents })
    expect(totalTokens).toBeGreaterThan(2)
    const names: unknown[] = []
    for await (const { name } of await google().models.list()) names.push(name)
    expect(names).toEqual([`models/${MODEL}`])
    expect(await settled()).toMatchObject([{ charge: CHARGE }, { charge: CHARGE }])
  })

  it('gets errors before and in a stream as its own class', async () => {
    await rig.addChannel(2, { type: 24, baseUrl: provider.url, models: [MODEL] })
    const unknown = google().models.generateContent({ model: 'unknown', contents })
    await expect(unknown).rejects.toBeInstanceOf(ApiError)
    const error = { error: { code: 503, message: 'Overloaded.', status: 'UNAVAILABLE' } }
    answerStream(`POST ${METHODS}:streamGenerateContent`, [
      STREAM.subarray(0, STREAM.indexOf('data:', 1)),
      Buffer.from(`data: ${JSON.stringify(error)}\n\n`),
    ])
    const stream = await google().models.generateContentStream({ model: MODEL, contents })
    const read = async () => {
      for await (const _chunk of stream);
    }
    await expect(read()).rejects.toThrow('Overloaded.')
  })

  it.each([false, true])('gets a refusal of a chat as SAFETY (stream: %s)', async (isStream) => {
    await rig.addChannel(3, { baseUrl: provider.url, models: ['sim-small'] })
    const refused = { role: 'assistant', content: null, refusal: 'I can’t help with that.' }
    const path = 'POST /v1/chat/completions'
    const choice = { index: 0, finish_reason: 'stop' }
    if (!isStream) {
      provider.answers.set(path, { body: { choices: [{ ...choice, message: refused }] } })
    } else {
      const chunk = { choices: [{ ...choice, delta: refused }] }
      answerStream(path, [Buffer.from(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`)])
    }
    const request = { model: 'sim-small', contents }
    const { models } = google()
    const stream = isStream ? await models.generateContentStream(request) : null
    const reasons: unknown[] = []
    for await (const { candidates } of stream ?? []) reasons.push(candidates?.[0]?.finishReason)
    if (stream === null) {
      reasons.push((await models.generateContent(request)).candidates?.[0]?.finishReason)
    }
    expect(reasons.at(-1)).toBe('SAFETY')
  })

  it('on an OpenAI channel is converted in both directions', async () => {
    await rig.addChannel(3, { baseUrl: provider.url, models: ['sim-small'] })
    const usage = {
      prompt_tokens: 1000,
      completion_tokens: 50,
      total_tokens: 1050,
      prompt_tokens_details: { cached_tokens: 400 },
    }
    const message = { role: 'assistant', content: 'I read it.' }
    provider.answers.set('POST /v1/chat/completions', {
      body: {
        ...{ id: 'c1', object: 'chat.completion', model: 'sim-small', usage },
        choices: [{ index: 0, message, finish_reason: 'stop' }],
      },
    })
    const request = { model: 'sim-small', contents, config }
    const answer = await google().models.generateContent(request)
    expect(answer).toMatchObject({ text: 'I read it.', modelVersion: 'sim-small' })
    expect(answer.usageMetadata).toMatchObject({
      promptTokenCount: 1000,
      cachedContentTokenCount: 400,
      candidatesTokenCount: 50,
    })
    expect(JSON.parse(provider.requests[0]?.body ?? '')).toMatchObject({
      model: 'sim-small',
      messages: [{ role: 'user', content: 'Read a.txt' }],
    })
    const chunk = (delta: object, finish: string | null) => ({
      ...{ id: 'c1', object: 'chat.completion.chunk', model: 'sim-small' },
      choices: [{ index: 0, delta, finish_reason: finish }],
    })
    const chunks = [
      chunk({ content: 'I read' }, null),
      chunk({ content: ' it.' }, 'stop'),
      { ...chunk({}, null), choices: [], usage },
    ]
    const text = chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('')
    answerStream('POST /v1/chat/completions', [Buffer.from(`${text}data: [DONE]\n\n`)])
    let streamed = ''
    let finish: unknown
    for await (const piece of await google().models.generateContentStream(request)) {
      streamed += piece.text ?? ''
      finish = piece.candidates?.[0]?.finishReason ?? finish
    }
    expect({ streamed, finish }).toEqual({ streamed: 'I read it.', finish: 'STOP' })
    expect(await settled()).toMatchObject([
      { charge: CHARGE, formats: ['gemini', 'chat'] },
      { charge: CHARGE, end: 'done' },
    ])
  })

  it('on an Anthropic channel is converted in both directions', async () => {
    await rig.addChannel(3, { type: 14, baseUrl: provider.url, models: ['sim-small'] })
    provider.answers.set('POST /v1/messages', {
      body: {
        ...{ id: 'm1', type: 'message', role: 'assistant', model: 'sim-small' },
        content: [{ type: 'text', text: 'I read it.' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 600, cache_read_input_tokens: 400, output_tokens: 50 },
      },
    })
    const answer = await google().models.generateContent({ model: 'sim-small', contents })
    expect(answer.text).toBe('I read it.')
    expect(answer.usageMetadata?.promptTokenCount).toBe(1000)
    expect(await settled()).toMatchObject([{ charge: CHARGE, formats: ['gemini', 'messages'] }])
  })
})

it('a call that is translated for Cohere holds the digits of its numbers', async () => {
  await rig.addChannel(3, { type: 34, baseUrl: provider.url, models: ['sim-small'] })
  provider.answers.set('POST /v2/chat', { status: 400, body: { message: 'invalid request' } })
  const parameters = `{"type":"object","examples":[${Array(900).fill('1e20').join()}]}`
  const tool = `{"type":"function","function":{"name":"f","parameters":${parameters}}}`
  const messages = '[{"role":"user","content":"Hi"}]'
  await fetch(`${rig.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: `{"model":"sim-small","max_tokens":9,"messages":${messages},"tools":[${tool}]}`,
  })
  const sent = provider.requests[0]?.body.length ?? 0
  expect(sent).toBeGreaterThan(900 * 20)
  const [admission] = await rig.callEvents()
  const hold = admission?.type === 'CallAdmitted' ? Number(admission.data.hold) : 0
  expect(hold).toBeGreaterThanOrEqual(sent)
})

it('a converted call names that the model in its body was ignored', async () => {
  await rig.addChannel(3, { baseUrl: provider.url, models: ['sim-small'] })
  const message = { role: 'assistant', content: 'Yes.' }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  provider.answers.set('POST /v1/chat/completions', { body: { choices } })
  const lossOf = async (model: string) => {
    const response = await fetch(`${rig.url}/v1beta/models/sim-small:generateContent`, {
      method: 'POST',
      headers: { 'x-goog-api-key': `sk-${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ contents: [{ parts: [{ text: 'Hi' }] }], model }),
    })
    expect(response.status, await response.text()).toBe(200)
    return response.headers.get('x-conversion-loss')
  }
  expect(await lossOf('models/sim-large')).toBe('model')
  expect(await lossOf('models/sim-small')).toBeNull()
})
