import OpenAI from 'openai'
import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, PROVIDER_KEY, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const MODEL = 'rerank-test'
const COHERE_MODEL = 'rerank-v3.5'
const MODERATION = 'omni-moderation-latest'
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 38, baseUrl: provider.url, models: [MODEL] })
  await rig.addChannel(3, { type: 1, baseUrl: provider.url, models: [MODERATION, 'own'] })
  await rig.setOption('ModelRatio', { [MODEL]: 0.5 })
})

async function send(path: string, body: object) {
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  const { error } = JSON.parse(text) as { error?: { code: string; param: string | null } }
  return { status: response.status, text, error }
}

type End = {
  readonly charge: number
  readonly anomaly: string | null
  readonly usageSource: string
  readonly usage: { readonly inputUncached: number; readonly searchUnits: number }
}
const endOf = async () => (await onlyEnd(rig)).data as unknown as End
const holdOf = async () =>
  Number(((await rig.callEvents())[0]?.data as { hold?: unknown } | undefined)?.hold)

const RESULTS = [{ index: 0, relevance_score: 0.9, document: { text: 'Paris', usage: 1 } }]
const REQUEST = { model: MODEL, query: 'The capital?', documents: ['Paris', 'Berlin'], top_n: 1 }
const rerank = (body: object = REQUEST) => send('/v1/rerank', body)
const answerWith = (body: object) => provider.answers.set('POST /v1/rerank', { body })

describe('a rerank', () => {
  it.each([
    ['Jina', { usage: { total_tokens: 400, prompt_tokens: 400 } }],
    ['SiliconFlow', { meta: { tokens: { input_tokens: 400, output_tokens: 0 } } }],
    ['an older SiliconFlow', { tokens: { input_tokens: 400, output_tokens: 0 } }],
    ['a server with billed tokens', { meta: { billed_units: { input_tokens: 400 } } }],
  ])('passes byte for byte and is billed by the tokens of %s', async (_name, usage) => {
    const body = { model: MODEL, object: 'list', results: RESULTS, ...usage }
    answerWith(body)
    const sent = { ...REQUEST, documents: ['Paris '.repeat(200), { text: 'Berlin' }] }
    const { status, text } = await rerank(sent)
    expect([status, text]).toEqual([200, JSON.stringify(body)])
    expect(provider.requests[0]?.body).toBe(JSON.stringify(sent))
    expect(await endOf()).toMatchObject({ charge: 200, usageSource: 'upstream', anomaly: null })
    expect(await holdOf()).toBeGreaterThanOrEqual(200)
  })

  it('with a price per call costs one call for each search unit', async () => {
    await rig.setOption('ModelPrice', { [MODEL]: 0.002 })
    answerWith({ results: RESULTS, meta: { billed_units: { search_units: 2 } } })
    await rerank({ ...REQUEST, documents: ['word '.repeat(9_000), 'Berlin'] })
    const bill = { charge: 2_000, calls: 2, anomaly: null, usageSource: 'upstream' }
    expect(await endOf()).toMatchObject(bill)
    expect(await holdOf()).toBeGreaterThanOrEqual(2_000)
  })

  it.each([
    ['no count', undefined, 1_000, null],
    ['a negative count', -5, 1_000, 'negative'],
    ['a huge count', 1e9, 1_000, 'absurd'],
    ['a text', 'many', 1_000, 'not-a-number'],
    ['zero', 0, 1_000, null],
  ])('with %s of search units costs as many as it has documents', async (...row) => {
    const [, units, charge, anomaly] = row
    await rig.setOption('ModelPrice', { [MODEL]: 0.002 })
    answerWith({ results: RESULTS, meta: { billed_units: { search_units: units } } })
    await rerank()
    expect(await endOf()).toMatchObject({ charge, anomaly, usageSource: 'estimated' })
  })

  it('of more than 100 documents has several search units', async () => {
    await rig.setOption('ModelPrice', { [MODEL]: 0.002 })
    answerWith({ results: RESULTS })
    await rerank({ ...REQUEST, documents: Array.from({ length: 101 }, () => 'a') })
    expect(await endOf()).toMatchObject({ charge: 2_000 })
  })

  it('with search units but no tokens is counted where tokens have the price', async () => {
    answerWith({ results: RESULTS, meta: { billed_units: { search_units: 1 } } })
    await rerank({ ...REQUEST, documents: ['The capital of France is Paris. '.repeat(10)] })
    const end = await endOf()
    expect(end).toMatchObject({ usageSource: 'estimated', anomaly: null })
    expect(end.usage.inputUncached).toBeGreaterThan(60)
    expect(end.usage.inputUncached).toBeLessThan(90)
  })

  it.each([
    ['query', { query: 'a bomb' }],
    ['documents', { documents: ['Paris', { text: 'a bomb' }] }],
  ])('with a screened word in `%s` is refused by an error that names it', async (param, fields) => {
    await rig.setOption('SensitiveWords', 'bomb')
    await rig.setOption('CheckSensitiveEnabled', 'true')
    await rig.setOption('CheckSensitiveOnPromptEnabled', 'true')
    const { status, error } = await rerank({ ...REQUEST, ...fields })
    expect([status, error]).toMatchObject([400, { code: 'sensitive_prompt', param }])
    expect(provider.requests).toEqual([])
  })

  it('does not believe a usage in a document that the caller sent', async () => {
    const document = { text: 'Paris '.repeat(100), usage: { total_tokens: 1 } }
    answerWith({ results: [{ index: 0, relevance_score: 1, document }] })
    await rerank({ ...REQUEST, documents: [document] })
    expect((await endOf()).usage.inputUncached).toBeGreaterThan(100)
  })

  it.each([
    ['negative', -1_000_000, 'negative'],
    ['huge', 1e15, 'absurd'],
    ['text', '400', 'not-a-number'],
  ])('a usage that is %s neither credits nor overcharges', async (_name, tokens, anomaly) => {
    answerWith({ results: RESULTS, usage: { total_tokens: tokens } })
    await rerank({ ...REQUEST, documents: ['Paris is the capital. '.repeat(50)] })
    const end = await endOf()
    expect(end.anomaly).toBe(anomaly)
    expect(end.usage.inputUncached).toBeGreaterThan(100)
    expect(end.usage.inputUncached).toBeLessThan(3_000)
  })

  it.each([
    ['model', { ...REQUEST, model: undefined }],
    ['query', { ...REQUEST, query: undefined }],
    ['query', { ...REQUEST, query: ['a'] }],
    ['documents', { ...REQUEST, documents: undefined }],
    ['documents', { ...REQUEST, documents: [] }],
    ['documents', { ...REQUEST, documents: 'Paris' }],
    ['documents', { ...REQUEST, documents: [1, 2] }],
    ['documents', { ...REQUEST, documents: ['a', null] }],
    ['top_n', { ...REQUEST, top_n: -1 }],
    ['top_n', { ...REQUEST, top_n: '1' }],
    ['return_documents', { ...REQUEST, return_documents: 'yes' }],
    ['max_chunks_per_doc', { ...REQUEST, max_chunks_per_doc: 0.5 }],
  ])('a wrong %s gets a 400 that names it', async (param, body) => {
    const { status, error } = await rerank(body)
    expect([status, error?.param]).toEqual([400, param])
    expect(provider.requests).toEqual([])
  })

  it.each([
    ['an empty list', { documents: [] }, '["…", {…}]'],
    ['a list as query', { query: ['a'] }, '"…", {…}'],
    ['a text as top_n', { top_n: 'x' }, '0–1000000'],
    ['a text as flag', { return_documents: 'yes' }, 'true, false'],
  ])('with %s gets an error that says which values are possible', async (_, fields, expected) => {
    expect((await rerank({ ...REQUEST, ...fields })).text).toContain(
      JSON.stringify(expected).slice(1, -1),
    )
  })

  const WORDS = `bad documents for ${PROVIDER_KEY}`

  it.each([
    ['Jina', { detail: WORDS }],
    ['Mistral', { detail: [{ type: 'x', loc: ['body', 'documents', 0], msg: WORDS }] }],
    ['Cohere', { id: '1', message: WORDS }],
    ['SiliconFlow', { code: 20012, message: WORDS, data: null }],
    ['Zhipu', { error: { code: '1210', message: WORDS } }],
    ['a gateway', { error: WORDS }],
  ])('an error of %s keeps its words, but no key', async (_name, body) => {
    provider.answers.set('POST /v1/rerank', { status: 422, body })
    const { status, text } = await rerank()
    expect(status).toBe(422)
    expect(text).toContain('bad documents')
    expect(text).not.toContain(PROVIDER_KEY)
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
  })
})

const MODERATED = {
  id: 'modr-1',
  model: MODERATION,
  results: [{ flagged: false, categories: {}, category_scores: {} }],
}

describe('the paths of reranks outside /v1', () => {
  it.each(['/v2/rerank', '/rerank', '/rerank?x=1'])('%s is a rerank as well', async (path) => {
    answerWith({ model: MODEL, results: RESULTS, usage: { total_tokens: 400 } })
    const { status } = await send(path, REQUEST)
    expect(status).toBe(200)
    expect(provider.requests[0]?.path).toBe('/v1/rerank')
    expect(await endOf()).toMatchObject({ charge: 200, formats: ['rerank'] })
    const wrong = await fetch(`${rig.url}${path}`)
    expect([wrong.status, wrong.headers.get('content-type')]).toEqual([
      405,
      expect.stringContaining('application/json'),
    ])
  })

  it.each([
    ['/v2/rerank', '/v2/rerank', { max_tokens_per_doc: 100 }],
    ['/v1/rerank', '/v1/rerank', { return_documents: true }],
    ['/rerank', '/v1/rerank', {}],
  ])('%s is called at Cohere as %s', async (path, expected, fields) => {
    await rig.addChannel(4, { type: 34, baseUrl: provider.url, models: [COHERE_MODEL] })
    provider.answers.set(`POST ${expected}`, {
      body: { results: RESULTS, meta: { billed_units: { search_units: 1 } } },
    })
    await rig.setOption('ModelPrice', { [COHERE_MODEL]: 0.002 })
    const body = { ...REQUEST, model: COHERE_MODEL, ...fields }
    expect((await send(path, body)).status).toBe(200)
    expect(provider.requests.map((request) => request.path)).toEqual([expected])
    expect(JSON.parse(provider.requests[0]?.body ?? '')).toEqual(body)
    expect(await endOf()).toMatchObject({ charge: 1_000, formats: ['rerank'] })
  })

  it('are served without the console’s pages', () => {
    expect(rig.relay.matches('/v2/rerank', 'POST')).toBe(true)
    expect(rig.relay.matches('/rerank?x=1', 'POST')).toBe(true)
    expect(rig.relay.matches('/rerank-settings')).toBe(false)
  })
})

describe('a moderation', () => {
  beforeEach(() => void provider.answers.set('POST /v1/moderations', { body: MODERATED }))

  it('is free, for texts and pictures, with the official client', async () => {
    const client = new OpenAI({ apiKey: `sk-${KEY}`, baseURL: `${rig.url}/v1`, maxRetries: 0 })
    const before = await rig.balance()
    const { results } = await client.moderations.create({
      model: MODERATION,
      input: [
        { type: 'text', text: 'hello' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      ],
    })
    expect(results[0]?.flagged).toBe(false)
    expect(await endOf()).toMatchObject({ charge: 0, end: 'done', formats: ['moderations'] })
    expect(await rig.balance()).toBe(before)
  })

  it('without a model is sent with the default model', async () => {
    const { status } = await send('/v1/moderations', { input: 'hello' })
    expect(status).toBe(200)
    expect(JSON.parse(provider.requests[0]?.body ?? '')).toEqual({
      model: MODERATION,
      input: 'hello',
    })
  })

  it('is free even for users who accept models without a price', async () => {
    await rig.setOption('SelfUseModeEnabled', 'true')
    await send('/v1/moderations', { model: MODERATION, input: 'hello' })
    expect(await endOf()).toMatchObject({ charge: 0 })
  })

  it('costs what an admin has set', async () => {
    await rig.setOption('ModelPrice', { [MODERATION]: 0.01 })
    await send('/v1/moderations', { input: ['hello', 'world'] })
    expect(await endOf()).toMatchObject({ charge: 5_000 })
  })

  it('without a result is an error, and costs nothing', async () => {
    await rig.setOption('ModelPrice', { [MODERATION]: 0.01 })
    provider.answers.set('POST /v1/moderations', { body: { id: 'modr-1', results: [] } })
    expect((await send('/v1/moderations', { input: 'hello' })).status).toBe(502)
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
  })

  it('a chat with the free model is still refused', async () => {
    const { status } = await send('/v1/chat/completions', {
      model: MODERATION,
      messages: [{ role: 'user', content: 'hi' }],
    })
    expect(status).toBe(400)
    expect(provider.requests).toEqual([])
  })

  it.each([
    ['input', {}],
    ['input', { input: [] }],
    ['input', { input: [1] }],
    ['input', { input: { type: 'text' } }],
    ['model', { model: 1, input: 'a' }],
    ['stream', { input: 'a', stream: true }],
  ])('a wrong %s gets a 400 that names it', async (param, body) => {
    const { status, error } = await send('/v1/moderations', body)
    expect([status, error?.param]).toEqual([400, param])
  })
})
