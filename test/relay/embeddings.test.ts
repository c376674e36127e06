import OpenAI from 'openai'
import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, PROVIDER_KEY, relayRig, USER } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const MODEL = 'text-embedding-3-large'
const PATH = 'POST /v1/embeddings'
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

/** The vector 0.5, -1, 2 as base64 of its 32-bit numbers. */
const VECTOR = [0.5, -1, 2]
const BASE64 = Buffer.from(new Float32Array(VECTOR).buffer).toString('base64')

const answer = (usage: unknown, embedding: unknown = BASE64) => ({
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding }],
  model: MODEL,
  ...(usage === undefined ? {} : { usage }),
})

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 1, baseUrl: provider.url, models: [MODEL, 'other'] })
  await rig.setOption('ModelRatio', { [MODEL]: 0.5, other: 1 })
  provider.answers.set(PATH, { body: answer({ prompt_tokens: 1_000, total_tokens: 1_000 }) })
})

type Refusal = { readonly code: string; readonly param: string | null; readonly message: string }

async function embed(body: object, path = '/v1/embeddings', key = KEY) {
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  const { error } = JSON.parse(text) as { error?: Refusal }
  return { status: response.status, text, error, headers: response.headers }
}

const holdOf = async () =>
  Number(((await rig.callEvents())[0]?.data as { hold?: unknown } | undefined)?.hold)
const endOf = async () =>
  (await onlyEnd(rig)).data as {
    charge: number
    usage: { inputUncached: number; output: number }
    anomaly: string | null
  }

describe('embeddings', () => {
  it('pass byte for byte and are billed by their usage', async () => {
    const body = { model: MODEL, input: 'word '.repeat(1_000), dimensions: 3, user: 'u' }
    const before = await rig.balance()
    const { status, text } = await embed(body)
    expect([status, text]).toEqual([200, JSON.stringify(provider.answers.get(PATH)?.body)])
    expect(provider.requests[0]).toMatchObject({ path: '/v1/embeddings' })
    expect(provider.requests[0]?.body).toBe(JSON.stringify(body))
    expect(provider.requests[0]?.headers).toMatchObject({ authorization: `Bearer ${PROVIDER_KEY}` })
    expect(await endOf()).toMatchObject({
      charge: 500,
      usage: { inputUncached: 1_000, output: 0 },
      usageSource: 'upstream',
      anomaly: null,
      formats: ['embeddings'],
      end: 'done',
    })
    expect(before - (await rig.balance())).toBe(500n)
  })

  it('are decoded by the official client, which requests base64 by default', async () => {
    const client = new OpenAI({ apiKey: `sk-${KEY}`, baseURL: `${rig.url}/v1`, maxRetries: 0 })
    const { data, usage } = await client.embeddings.create({ model: MODEL, input: ['a', 'b'] })
    expect(data[0]?.embedding).toEqual(VECTOR)
    expect(usage.prompt_tokens).toBe(1_000)
    expect(JSON.parse(provider.requests[0]?.body ?? '')).toMatchObject({
      encoding_format: 'base64',
    })
  })

  it('are decoded by the official client, even if the provider ignores its format', async () => {
    provider.answers.set(PATH, { body: answer({ prompt_tokens: 1, total_tokens: 1 }, VECTOR) })
    const client = new OpenAI({ apiKey: `sk-${KEY}`, baseURL: `${rig.url}/v1`, maxRetries: 0 })
    const { data } = await client.embeddings.create({ model: MODEL, input: 'a' })
    expect(data[0]?.embedding).toEqual(VECTOR)
  })

  it('are not changed for a caller who did not request base64', async () => {
    const body = answer({ prompt_tokens: 1, total_tokens: 1 }, [0.1, 1e-7, 'x'])
    provider.answers.set(PATH, { body })
    for (const format of [{}, { encoding_format: 'float' }, { encoding_format: 'base64' }]) {
      const { text } = await embed({ model: MODEL, input: 'a', ...format })
      expect(text).toBe(JSON.stringify(body))
    }
  })

  it('hold the worst case of texts, and the exact number of tokens', async () => {
    const input = 'x'.repeat(5_000)
    await embed({ model: MODEL, input })
    expect(await holdOf()).toBeGreaterThanOrEqual(2_500)
  })

  it.each([
    ['tokens', Array.from({ length: 400 }, (_, at) => 100_000 + at), 400],
    ['lists of tokens', [[1, 22, 333], [4444]], 4],
  ])('of %s hold exactly their number', async (_name, input, tokens) => {
    provider.answers.set(PATH, { body: answer({ prompt_tokens: tokens, total_tokens: tokens }) })
    await embed({ model: MODEL, input })
    expect(await holdOf()).toBe(tokens / 2)
    expect(await endOf()).toMatchObject({ charge: tokens / 2 })
  })

  it.each([
    ['a text', 'The capital of France is Paris.', 7],
    ['texts', ['The capital of France is Paris.', 'The capital of France is Paris.'], 14],
    ['tokens', Array.from({ length: 300 }, (_, at) => at + 1_000), 300],
    ['lists of tokens', [[1, 2], [3], [4, 5, 6]], 6],
    ['objects', [{ text: 'The capital of France is Paris.' }], 7],
  ])('of %s without usage are counted by the gateway', async (_name, input, tokens) => {
    provider.answers.set(PATH, { body: answer(undefined) })
    await embed({ model: MODEL, input })
    const { usage, ...end } = await endOf()
    expect(end).toMatchObject({ usageSource: 'estimated', end: 'done' })
    expect(usage.inputUncached).toBeGreaterThanOrEqual(tokens)
    expect(usage.inputUncached).toBeLessThanOrEqual(tokens + 3)
    expect(usage.output).toBe(0)
  })

  it.each([
    ['negative', { prompt_tokens: -1_000_000, total_tokens: -1_000_000 }, 'negative'],
    ['huge', { prompt_tokens: 1e15, total_tokens: 1e15 }, 'absurd'],
    ['text', { prompt_tokens: '1000', total_tokens: 'x' }, 'not-a-number'],
    ['missing', { cost: 1 }, 'missing'],
    ['fractional', { prompt_tokens: 0.5 }, 'fraction'],
    ['null', { prompt_tokens: null, total_tokens: null }, 'missing'],
  ])('a usage that is %s neither credits nor overcharges', async (_name, usage, anomaly) => {
    provider.answers.set(PATH, { body: answer(usage) })
    const body = { model: MODEL, input: 'The capital of France is Paris. '.repeat(20) }
    await embed(body)
    const end = await endOf()
    expect(end.anomaly).toBe(anomaly)
    expect(end.usage.inputUncached).toBeGreaterThan(100)
    expect(end.usage.inputUncached).toBeLessThanOrEqual(JSON.stringify(body).length + 1_000)
  })

  it('without a vector and without usage are an error, and cost nothing', async () => {
    const before = await rig.balance()
    provider.answers.set(PATH, { body: { object: 'list', data: [], model: MODEL } })
    const { status, error } = await embed({ model: MODEL, input: 'a' })
    expect([status, error?.code]).toEqual([502, 'upstream_format'])
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
    expect(await rig.balance()).toBe(before)
  })

  it('without a vector open no circuit, because the input may cause them', async () => {
    provider.answers.set(PATH, { body: { object: 'list', data: [] } })
    for (let call = 0; call < 30; call += 1) {
      expect((await embed({ model: MODEL, input: ' ' })).status).toBe(502)
    }
    provider.answers.set(PATH, { body: answer({ prompt_tokens: 1, total_tokens: 1 }) })
    expect((await embed({ model: MODEL, input: 'a' })).status).toBe(200)
  })

  it('without a vector are made by the next channel', async () => {
    const second = await scriptedProvider()
    try {
      await rig.addChannel(3, { baseUrl: second.url, models: [MODEL], priority: -1 })
      await rig.setOption('RetryTimes', '3')
      provider.answers.set(PATH, { body: { object: 'list', data: [] } })
      second.answers.set(PATH, { body: answer({ prompt_tokens: 10, total_tokens: 10 }) })
      expect((await embed({ model: MODEL, input: 'a' })).status).toBe(200)
      expect((await onlyEnd(rig)).data).toMatchObject({ channelId: 3, charge: 5 })
    } finally {
      await second.close()
    }
  })

  it('without a vector are an error, but charged, if they have usage', async () => {
    const usage = { prompt_tokens: 10, total_tokens: 10 }
    provider.answers.set(PATH, { body: { object: 'list', data: [], usage } })
    const { status, error } = await embed({ model: MODEL, input: 'a' })
    expect([status, error?.code]).toEqual([502, 'upstream_format'])
    expect(await endOf()).toMatchObject({ charge: 5, end: 'incomplete' })
  })

  it('the total is the input where a server counts only the total', async () => {
    provider.answers.set(PATH, { body: answer({ prompt_tokens: 0, total_tokens: 8 }) })
    await embed({ model: MODEL, input: 'a' })
    expect(await endOf()).toMatchObject({ usage: { inputUncached: 8 }, anomaly: null })
  })

  it.each([
    ['model', { input: 'a' }],
    ['model', { model: 3, input: 'a' }],
    ['input', { model: MODEL }],
    ['input', { model: MODEL, input: null }],
    ['input', { model: MODEL, input: [] }],
    ['input', { model: MODEL, input: {} }],
    ['input', { model: MODEL, input: ['a', 1] }],
    ['input', { model: MODEL, input: [[1], 'a'] }],
    ['input', { model: MODEL, input: [1.5] }],
    ['input', { model: MODEL, input: [-1] }],
    ['input', { model: MODEL, input: [[['a']]] }],
    ['input', { model: MODEL, input: [[1, null]] }],
    ['input', { model: MODEL, input: [true] }],
    ['dimensions', { model: MODEL, input: 'a', dimensions: 0 }],
    ['dimensions', { model: MODEL, input: 'a', dimensions: '3' }],
    ['encoding_format', { model: MODEL, input: 'a', encoding_format: 1 }],
    ['stream', { model: MODEL, input: 'a', stream: true }],
    ['messages', { model: MODEL, input: 'a', messages: [] }],
    ['Input', { model: MODEL, input: 'a', Input: 'b' }],
  ])('a wrong %s gets a 400 that names it and says what is possible', async (param, body) => {
    const { status, error } = await embed(body)
    expect([status, error?.param]).toEqual([400, param])
    const isExplained = ['input', 'dimensions', 'encoding_format', 'stream'].includes(param)
    if (isExplained) expect(error?.message).not.toBe(`Invalid value for '${param}'.`)
    expect(provider.requests).toEqual([])
  })

  it('an error of the provider keeps its words, and costs nothing', async () => {
    const error = { message: `Too many inputs for ${PROVIDER_KEY}`, type: 'x', code: 'y' }
    provider.answers.set(PATH, { status: 400, body: { error } })
    const { status, text } = await embed({ model: MODEL, input: 'a' })
    expect(status).toBe(400)
    expect(text).toContain('Too many inputs')
    expect(text).not.toContain(PROVIDER_KEY)
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
  })

  it('at the earlier path have the model of the path', async () => {
    expect(await embed({ input: 'a' }, `/v1/engines/${MODEL}/embeddings`)).toMatchObject({
      status: 200,
    })
    expect(JSON.parse(provider.requests[0]?.body ?? '')).toEqual({ model: MODEL, input: 'a' })
    const { error } = await embed({ model: 'other', input: 'a' }, `/v1/engines/${MODEL}/embeddings`)
    expect(error?.param).toBe('model')
  })

  it('go to the provider under its own name of the model', async () => {
    await rig.addChannel(3, {
      type: 47,
      baseUrl: provider.url,
      models: ['mine'],
      modelMapping: JSON.stringify({ mine: MODEL }),
    })
    await rig.setOption('ModelRatio', { mine: 0.5 })
    const { text } = await embed({ model: 'mine', input: 'a' })
    expect(JSON.parse(provider.requests[0]?.body ?? '')).toMatchObject({ model: MODEL })
    expect(JSON.parse(text)).toMatchObject({ model: 'mine' })
  })

  it('are refused for good if the group has the model only at other endpoints', async () => {
    await rig.addChannel(3, { type: 43, baseUrl: provider.url, models: ['deepseek-x'] })
    await rig.setOption('ModelRatio', { 'deepseek-x': 1 })
    const { status, error, headers } = await embed({ model: 'deepseek-x', input: 'a' })
    expect([status, error?.code]).toEqual([404, 'model_not_at_endpoint'])
    expect(headers.get('retry-after')).toBeNull()
    // A disabled channel may come back, so that the same call may succeed later.
    const data = { channelIds: [3], tag: null }
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDisabled', v: 1, data })
    const later = await embed({ model: 'deepseek-x', input: 'a' })
    expect([later.status, later.error?.code]).toEqual([503, 'no_channel'])
  })

  it('may be repeated if a disabled channel has the model at this endpoint', async () => {
    await rig.addChannel(3, { type: 43, baseUrl: provider.url, models: ['embed-x'] })
    await rig.addChannel(4, { type: 1, baseUrl: provider.url, models: ['embed-x'] })
    await rig.setOption('ModelRatio', { 'embed-x': 1 })
    const data = { channelIds: [4], tag: null }
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDisabled', v: 1, data })
    const { status, error } = await embed({ model: 'embed-x', input: 'a' })
    expect([status, error?.code]).toEqual([503, 'no_channel'])
  })

  it('are refused for good although a disabled channel has the model elsewhere', async () => {
    await rig.addChannel(3, { type: 43, baseUrl: provider.url, models: ['chat-x'] })
    await rig.addChannel(4, { type: 43, baseUrl: provider.url, models: ['chat-x'] })
    await rig.setOption('ModelRatio', { 'chat-x': 1 })
    const data = { channelIds: [4], tag: null }
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDisabled', v: 1, data })
    const { status, error } = await embed({ model: 'chat-x', input: 'a' })
    expect([status, error?.code]).toEqual([404, 'model_not_at_endpoint'])
  })

  it('are refused if the account can not pay for the input', async () => {
    await rig.addUser(8)
    await rig.addToken(4, 8, `${KEY}x`)
    await rig.grant(8, 10n)
    const { status } = await embed(
      { model: MODEL, input: 'word '.repeat(900) },
      undefined,
      `${KEY}x`,
    )
    expect(status).toBe(402)
    expect(provider.requests).toEqual([])
  })

  it('a small account pays for what its text really has', async () => {
    await rig.addUser(8)
    await rig.addToken(4, 8, `${KEY}x`)
    await rig.grant(8, 3_000n)
    const { status } = await embed(
      { model: MODEL, input: 'word '.repeat(900) },
      undefined,
      `${KEY}x`,
    )
    expect(status).toBe(200)
    const [admitted] = await rig.callEvents(8)
    const { hold } = (admitted?.data ?? {}) as { hold?: unknown }
    expect(Number(hold)).toBeLessThanOrEqual(3_000)
  })

  it('with a screened word are refused, whatever the kind of input', async () => {
    await rig.setOption('CheckSensitiveEnabled', 'true')
    await rig.setOption('CheckSensitiveOnPromptEnabled', 'true')
    await rig.setOption('SensitiveWords', 'forbidden')
    for (const input of ['a forbidden word', ['a', 'forbidden'], [{ text: 'forbidden' }]]) {
      const { status, error } = await embed({ model: MODEL, input })
      expect([status, error?.code, error?.param]).toEqual([400, 'sensitive_prompt', 'input'])
    }
    expect(provider.requests).toEqual([])
  })

  it('count towards the limits of a token', async () => {
    const rateLimit = { isEnabled: true, periodSeconds: 60, count: 1, success: 1 }
    await rig.addToken(4, USER, `${KEY}x`, { rateLimit })
    expect((await embed({ model: MODEL, input: 'a' }, undefined, `${KEY}x`)).status).toBe(200)
    const second = await embed({ model: MODEL, input: 'a' }, undefined, `${KEY}x`)
    expect(second).toMatchObject({ status: 429 })
    expect(second.headers.get('retry-after')).not.toBeNull()
  })

  it('with an idempotency key are billed once', async () => {
    const call = async () => {
      const response = await fetch(`${rig.url}/v1/embeddings`, {
        method: 'POST',
        headers: {
          authorization: `Bearer sk-${KEY}`,
          'content-type': 'application/json',
          'idempotency-key': 'once',
        },
        body: JSON.stringify({ model: MODEL, input: 'a' }),
      })
      await response.text()
      return response.status
    }
    expect(await call()).toBe(200)
    expect(await call()).toBe(409)
    expect(provider.requests).toHaveLength(1)
  })
})

it('a long list of embeddings is delivered whole, and one without an end is not', async () => {
  const vector = JSON.stringify(Array.from({ length: 3_072 }, () => 0.123456789012345))
  const item = `{"object":"embedding","index":0,"embedding":${vector}}`
  const list = Array.from({ length: 700 }, () => item).join()
  const body = `{"object":"list","data":[${list}],"model":"${MODEL}","usage":{"prompt_tokens":7}}`
  expect(body.length).toBeGreaterThan(32 * 1024 * 1024)
  provider.answers.set(PATH, { body })
  const { status, text } = await embed({ model: MODEL, input: ['a'] })
  expect([status, text === body]).toEqual([200, true])
  expect(await endOf()).toMatchObject({ usage: { inputUncached: 7 }, usageSource: 'upstream' })
  provider.answers.set(PATH, { body: `${body}${body}` })
  expect((await embed({ model: MODEL, input: ['a'] })).status).toBe(502)
})
