import OpenAI from 'openai'
import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const BASE = 'base-model'
const CHAT = 'chat-model'
const CLAUDE = 'claude-sonnet-5-5'
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)
const NATIVE = 'POST /v1/completions'

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 8, baseUrl: provider.url, models: [BASE] })
  await rig.addChannel(3, { type: 1, baseUrl: provider.url, models: [CHAT] })
  await rig.addChannel(4, { type: 14, baseUrl: provider.url, models: [CLAUDE] })
  await rig.setOption('ModelRatio', { [BASE]: 1, [CHAT]: 1, [CLAUDE]: 1 })
  await rig.setOption('CompletionRatio', { [BASE]: 4, [CHAT]: 4, [CLAUDE]: 4 })
  provider.answers.set(NATIVE, { body: ANSWER })
})

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const ANSWER = {
  id: 'cmpl-1',
  object: 'text_completion',
  created: 1,
  model: BASE,
  choices: [{ text: ' a time', index: 0, logprobs: null, finish_reason: 'length' }],
  usage: USAGE,
}
const CHAT_ANSWER = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: CHAT,
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: ' a time' },
      logprobs: null,
      finish_reason: 'length',
    },
  ],
  usage: USAGE,
}

async function complete(body: Record<string, unknown>) {
  const response = await fetch(`${rig.url}/v1/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: BASE, prompt: 'Once upon', ...body }),
  })
  const text = await response.text()
  return { status: response.status, text, headers: response.headers }
}

const errorOf = ({ text }: { readonly text: string }) =>
  (JSON.parse(text) as { error: { code: string; param: string | null } }).error
const sentBody = () => JSON.parse(provider.requests.at(-1)?.body ?? '') as Record<string, unknown>
const sse = (...chunks: readonly object[]): Buffer =>
  Buffer.from(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(''))
const DONE = Buffer.from('data: [DONE]\n\n')

/** The hold of the only call, in the quota of its output tokens alone. */
async function holdOf(body: Record<string, unknown>): Promise<number> {
  const before = (await rig.callEvents()).length
  const { status } = await complete(body)
  expect(status).toBe(200)
  const admitted = (await rig.callEvents())[before]
  return Number((admitted?.data as { hold?: unknown } | undefined)?.hold)
}

describe('a completion at a provider that has them', () => {
  it('passes byte for byte and is billed by its usage', async () => {
    const { status, text } = await complete({ max_tokens: 5, logprobs: 2, suffix: ' end' })
    expect([status, text]).toEqual([200, JSON.stringify(ANSWER)])
    expect(provider.requests[0]?.path).toBe('/v1/completions')
    expect(sentBody()).toEqual({
      model: BASE,
      prompt: 'Once upon',
      max_tokens: 5,
      logprobs: 2,
      suffix: ' end',
    })
    expect((await onlyEnd(rig)).data).toMatchObject({
      charge: 30,
      formats: ['completions'],
      usageSource: 'upstream',
      end: 'done',
    })
  })

  it('gets the default output limit of the API, which some servers do not have', async () => {
    await complete({})
    expect(sentBody()).toMatchObject({ max_tokens: 16 })
    await complete({ max_tokens: null })
    expect(sentBody()).toMatchObject({ max_tokens: 16 })
  })

  it('streams, with the usage chunk only for a caller that requests it', async () => {
    const text = { id: 'c', object: 'text_completion', model: BASE, created: 1 }
    const pieces = [
      sse({ ...text, choices: [{ text: ' a', index: 0, logprobs: null, finish_reason: null }] }),
      sse({ ...text, choices: [{ text: '', index: 0, logprobs: null, finish_reason: 'stop' }] }),
      sse({ ...text, choices: [], usage: USAGE }),
      DONE,
    ]
    const headers = { 'content-type': 'text/event-stream' }
    provider.answers.set(NATIVE, { headers, pieces })
    const { text: plain } = await complete({ stream: true })
    expect(plain).toBe(Buffer.concat([...pieces.slice(0, 2), DONE]).toString())
    expect(sentBody()).toMatchObject({ stream_options: { include_usage: true } })
    const { text: whole } = await complete({
      stream: true,
      stream_options: { include_usage: true },
    })
    expect(whole).toBe(Buffer.concat(pieces).toString())
    for (const { data } of (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')) {
      expect(data).toMatchObject({ charge: 30, end: 'done' })
    }
  })

  it('of several prompts or answers holds the output of each', async () => {
    const output = async (body: Record<string, unknown>) => {
      const [long, short] = [
        await holdOf({ ...body, max_tokens: 1_100 }),
        await holdOf({ ...body, max_tokens: 1_000 }),
      ]
      return (long - short) / 400
    }
    expect(await output({})).toBe(1)
    expect(await output({ n: 3 })).toBe(3)
    expect(await output({ prompt: ['a', 'b "quoted\\"'] })).toBe(2)
    expect(await output({ prompt: ['a', 'b'], n: 3 })).toBe(6)
    expect(await output({ prompt: [1, 2, 3] })).toBe(1)
    expect(await output({ prompt: [[1, 2], [3]], best_of: 5 })).toBe(10)
  })

  it('with an echo holds the prompt as output, too', async () => {
    const prompt = 'word '.repeat(400)
    const difference = (await holdOf({ prompt, echo: true })) - (await holdOf({ prompt }))
    expect(difference).toBeGreaterThanOrEqual(prompt.length * 4)
  })

  it.each([
    ['a text', 'Once upon a time there was a king. '.repeat(40)],
    ['texts', Array.from({ length: 40 }, () => 'Once upon a time there was a king.')],
    ['tokens', Array.from({ length: 400 }, (_, at) => at * 37)],
    ['lists of tokens', Array.from({ length: 40 }, () => [1, 22, 333, 4444, 5, 6, 7, 8, 9, 10])],
  ])('whose provider reports no usage is billed for its prompt of %s', async (_name, prompt) => {
    const { usage: _usage, ...answer } = ANSWER
    provider.answers.set(NATIVE, { body: answer })
    await complete({ prompt })
    const { data } = await onlyEnd(rig)
    const { usage } = data as { usage: { readonly [name: string]: unknown } }
    const { inputUncached, output } = usage
    expect(inputUncached).toBeGreaterThanOrEqual(300)
    expect(output).toBeGreaterThan(0)
  })

  it('is held in full for a long prompt, although its tokens are counted', async () => {
    const texts = await holdOf({ prompt: 'Once upon a time. '.repeat(500) })
    expect(texts).toBeGreaterThan(2_000)
    const tokens = Array.from({ length: 5_000 }, () => 12_345)
    expect(await holdOf({ prompt: tokens })).toBeGreaterThan(5_000)
  })

  it.each([10, 1_000])('with an echo holds it beside the limit of an override', async (times) => {
    const model = 'overridden'
    const paramOverride = JSON.stringify({ max_tokens: 4_000 })
    await rig.addChannel(5, { type: 8, baseUrl: provider.url, models: [model], paramOverride })
    await rig.setOption('ModelRatio', { [BASE]: 1, [model]: 1 })
    await rig.setOption('CompletionRatio', { [BASE]: 4, [model]: 4 })
    const request = { prompt: 'a tale '.repeat(times), echo: true }
    const held = await holdOf({ ...request, max_tokens: 4_000 })
    expect(await holdOf({ ...request, model, max_tokens: 1 })).toBeGreaterThanOrEqual(held)
  })

  it('does not get members that multiply the output beyond the hold', async () => {
    const { headers } = await complete({ best_of: 5, max_new_tokens: 9_999 })
    expect(headers.get('x-dropped-members')).toBe('best_of, max_new_tokens')
    expect(sentBody()).toEqual({ model: BASE, prompt: 'Once upon', max_tokens: 16 })
  })

  it('with a price per call is charged for each answer that the caller gets', async () => {
    await rig.setOption('ModelPrice', { [BASE]: 0.01 })
    await complete({ prompt: ['a', 'b'], n: 2, best_of: 5 })
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: 4 * 5_000 })
  })

  it('is screened, and answered by the official client', async () => {
    const openai = new OpenAI({ apiKey: `sk-${KEY}`, baseURL: `${rig.url}/v1`, maxRetries: 0 })
    const answer = await openai.completions.create({ model: BASE, prompt: 'Once upon' })
    expect(answer.choices[0]?.text).toBe(' a time')
    await rig.setOption('SensitiveWords', 'upon')
    await rig.setOption('CheckSensitiveEnabled', 'true')
    await rig.setOption('CheckSensitiveOnPromptEnabled', 'true')
    const refused = errorOf(await complete({ prompt: ['x', 'once upon'] }))
    expect(refused).toMatchObject({ code: 'sensitive_prompt', param: 'prompt' })
  })

  it.each<[string, Record<string, unknown>]>([
    ['prompt', { prompt: undefined }],
    ['prompt', { prompt: 5 }],
    ['prompt', { prompt: [] }],
    ['prompt', { prompt: {} }],
    ['prompt', { prompt: ['a', 1] }],
    ['prompt', { prompt: [1, 'a'] }],
    ['prompt', { prompt: [[1], ['a']] }],
    ['prompt', { prompt: [[1], 2] }],
    ['prompt', { prompt: [[[1]]] }],
    ['prompt', { prompt: [1.5] }],
    ['prompt', { prompt: [-1] }],
    ['prompt', { prompt: [null] }],
    ['prompt', { prompt: [{}] }],
    ['prompt', { prompt: Array.from({ length: 129 }, () => 'a') }],
    ['prompt', { prompt: ['a', 'b'], n: 65 }],
    ['Prompt', { Prompt: ['a', 'b'] }],
    ['n', { n: 129 }],
    ['n', { n: 0 }],
    ['best_of', { best_of: 'x' }],
    ['max_tokens', { max_tokens: 0 }],
    ['max_tokens', { max_tokens: -1 }],
    ['max_completion_tokens', { max_completion_tokens: 9 }],
    ['messages', { messages: [] }],
    ['prompt_embeds', { prompt_embeds: ['x'] }],
    ['stream', { stream: 1 }],
    ['echo', { echo: 'yes' }],
    ['suffix', { suffix: [] }],
    ['temperature', { temperature: 'hot' }],
  ])('is refused for a wrong %s: %j', async (param, body) => {
    const answer = await complete(body)
    expect([answer.status, errorOf(answer).param]).toEqual([400, param])
    expect(provider.requests).toEqual([])
  })
})

describe('a completion at a provider that has only chats', () => {
  const PATH = 'POST /v1/chat/completions'

  it('is converted in both directions', async () => {
    provider.answers.set(PATH, { body: CHAT_ANSWER })
    const body = { model: CHAT, prompt: ['Once upon'], temperature: 0, logprobs: 1, stop: 'x' }
    const { text, headers } = await complete(body)
    expect(sentBody()).toMatchObject({
      model: CHAT,
      messages: [{ role: 'user', content: 'Once upon' }],
      temperature: 0,
    })
    const sent = sentBody()
    expect(sent.max_tokens ?? sent.max_completion_tokens).toBe(16)
    expect(headers.get('x-conversion-loss')).toContain('logprobs')
    expect(JSON.parse(text)).toEqual({
      id: 'chatcmpl-1',
      object: 'text_completion',
      created: expect.any(Number),
      model: CHAT,
      choices: [{ text: ' a time', index: 0, logprobs: null, finish_reason: 'length' }],
      usage: expect.objectContaining(USAGE),
    })
    expect((await onlyEnd(rig)).data).toMatchObject({
      charge: 30,
      formats: ['completions', 'chat'],
    })
  })

  it('is converted as a stream of Anthropic', async () => {
    const events: readonly (readonly [string, object])[] = [
      [
        'message_start',
        { message: { id: 'msg_1', usage: { input_tokens: 10, output_tokens: 1 } } },
      ],
      ['content_block_start', { index: 0, content_block: { type: 'text', text: '' } }],
      ['content_block_delta', { index: 0, delta: { type: 'text_delta', text: ' a' } }],
      ['content_block_delta', { index: 0, delta: { type: 'text_delta', text: ' time' } }],
      ['content_block_stop', { index: 0 }],
      ['message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } }],
      ['message_stop', {}],
    ]
    const text = events
      .map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
      .join('')
    const headers = { 'content-type': 'text/event-stream' }
    provider.answers.set('POST /v1/messages', { headers, pieces: [Buffer.from(text)] })
    const openai = new OpenAI({ apiKey: `sk-${KEY}`, baseURL: `${rig.url}/v1`, maxRetries: 0 })
    const stream = await openai.completions.create({
      model: CLAUDE,
      prompt: 'Once upon',
      stream: true,
      stream_options: { include_usage: true },
    })
    const chunks: OpenAI.Completion[] = []
    for await (const chunk of stream) chunks.push(chunk)
    expect(chunks.map(({ choices: [choice] }) => choice?.text)).toEqual([
      ' a',
      ' time',
      '',
      undefined,
    ])
    expect(chunks[2]?.choices[0]?.finish_reason).toBe('stop')
    expect(chunks[3]?.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 5 })
    expect(chunks[0]).toMatchObject({ id: 'msg_1', object: 'text_completion', model: CLAUDE })
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: 30, end: 'done' })
  })

  it.each<[string, Record<string, unknown>]>([
    ['prompt', { prompt: ['a', 'b'] }],
    ['prompt', { prompt: [1, 2] }],
    ['prompt', { prompt: [[1, 2]] }],
    ['prompt', { prompt: '' }],
    ['n', { n: 2 }],
    ['suffix', { suffix: 'end' }],
    ['echo', { echo: true }],
  ])('is refused for %s, which can’t be converted: %j', async (param, body) => {
    const answer = await complete({ ...body, model: CHAT })
    expect([answer.status, errorOf(answer)]).toMatchObject([
      400,
      { code: 'not_convertible', param },
    ])
    expect(provider.requests).toEqual([])
    expect(await rig.balance()).toBe(1_000_000_000n)
  })

  it('has the provider’s error in the format of completions', async () => {
    const error = { type: 'overloaded_error', message: 'Overloaded' }
    provider.answers.set('POST /v1/messages', { status: 529, body: { type: 'error', error } })
    const answer = await complete({ model: CLAUDE })
    expect([answer.status, errorOf(answer).code]).toEqual([529, 'server_is_overloaded'])
  })
})
