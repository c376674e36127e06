import { GoogleGenAI } from '@google/genai'
import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, PROVIDER_KEY, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const MODEL = 'gemini-embedding-001'
const MAPPED = 'my-embedding'
const SINGLE = `/v1beta/models/${MODEL}:embedContent`
const BATCH = `/v1beta/models/${MODEL}:batchEmbedContents`
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

const TEXT = 'The capital of France is Paris. '.repeat(10)
const CONTENT = { parts: [{ text: TEXT }] }
const BODY = { content: CONTENT, taskType: 'RETRIEVAL_QUERY', outputDimensionality: 3 }
const BATCH_BODY = { requests: [{ model: `models/${MODEL}`, content: CONTENT }] }

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, {
    type: 24,
    baseUrl: provider.url,
    models: [MODEL, MAPPED],
    modelMapping: JSON.stringify({ [MAPPED]: MODEL }),
  })
  await rig.setOption('ModelRatio', { [MODEL]: 1, [MAPPED]: 1 })
  provider.answers.set(`POST ${SINGLE}`, { body: { embedding: { values: [1, 2, 3] } } })
  provider.answers.set(`POST ${BATCH}`, { body: { embeddings: [{ values: [1, 2, 3] }] } })
})

async function send(path: string, body: object) {
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { 'x-goog-api-key': `sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, text, error: JSON.parse(text).error }
}

type End = { readonly usage: { readonly inputUncached: number }; readonly charge: number }
const endOf = async () => (await onlyEnd(rig)).data as unknown as End
const sentBody = () => JSON.parse(provider.requests.at(-1)?.body ?? '')

describe('embeddings of Gemini', () => {
  it.each([
    ['embedContent', SINGLE, BODY],
    ['batchEmbedContents', BATCH, BATCH_BODY],
    ['embedContent below v1', SINGLE.replace('v1beta', 'v1'), BODY],
  ])('%s passes its bytes and is billed by our own count', async (_name, path, body) => {
    const { status, text } = await send(path, body)
    expect(status).toBe(200)
    expect(text).toContain('[1,2,3]')
    const [request] = provider.requests
    expect(request?.body).toBe(JSON.stringify(body))
    expect(request?.headers).toMatchObject({ 'x-goog-api-key': PROVIDER_KEY })
    const end = await endOf()
    expect(end).toMatchObject({ usageSource: 'estimated', anomaly: null, end: 'done' })
    expect(end.usage.inputUncached).toBeGreaterThanOrEqual(70)
    expect(end.usage.inputUncached).toBeLessThanOrEqual(72)
    expect(end.charge).toBe(end.usage.inputUncached)
  })

  it('are billed by their usage where the model reports it', async () => {
    const body = { embedding: { values: [1] }, usageMetadata: { promptTokenCount: 50 } }
    provider.answers.set(`POST ${SINGLE}`, { body })
    await send(SINGLE, BODY)
    expect(await endOf()).toMatchObject({ charge: 50, usageSource: 'upstream', anomaly: null })
  })

  it.each([-50, '50', 1e12, 0.5])('do not believe a usage of %s', async (promptTokenCount) => {
    const body = { embedding: { values: [1] }, usageMetadata: { promptTokenCount } }
    provider.answers.set(`POST ${SINGLE}`, { body })
    await send(SINGLE, BODY)
    const { usage } = await endOf()
    expect(usage.inputUncached).toBeGreaterThanOrEqual(50)
    expect(usage.inputUncached).toBeLessThan(1_000)
  })

  it.each([
    [SINGLE, BODY, { embedding: { values: [] } }],
    [SINGLE, BODY, { embedding: {} }],
    [BATCH, BATCH_BODY, { embeddings: [] }],
  ])('without a vector are an error, and cost nothing: %s', async (path, body, answer) => {
    provider.answers.set(`POST ${path}`, { body: answer })
    expect((await send(path, body)).status).toBe(502)
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
  })

  it('are served to Google’s library', async () => {
    const ai = new GoogleGenAI({ apiKey: `sk-${KEY}`, httpOptions: { baseUrl: rig.url } })
    const { embeddings } = await ai.models.embedContent({ model: MODEL, contents: [TEXT] })
    expect(embeddings?.[0]?.values).toEqual([1, 2, 3])
    expect((await endOf()).usage.inputUncached).toBeGreaterThanOrEqual(70)
  })

  it('of a mapped model name the provider’s model in each request', async () => {
    const request = { model: `models/${MAPPED}`, content: CONTENT }
    const body = { requests: [request, { ...request, title: 'models/x' }] }
    const { status } = await send(`/v1beta/models/${MAPPED}:batchEmbedContents`, body)
    expect(status).toBe(200)
    expect(provider.requests[0]?.path).toBe(BATCH)
    expect(sentBody().requests).toEqual([
      { ...request, model: `models/${MODEL}` },
      { ...request, model: `models/${MODEL}`, title: 'models/x' },
    ])
  })

  it.each([
    [
      'requests[1].model',
      BATCH,
      { requests: [BATCH_BODY.requests[0], { ...BATCH_BODY.requests[0], model: 'models/other' }] },
    ],
    ['model', SINGLE, { ...BODY, model: 'models/other' }],
    ['content', SINGLE, { taskType: 'X' }],
    ['content', SINGLE, { content: 'text' }],
    ['requests', BATCH, { content: CONTENT }],
    ['requests', BATCH, { requests: [] }],
    ['requests', BATCH, { requests: ['a'] }],
    ['requests[].content', BATCH, { requests: [{ model: `models/${MODEL}` }] }],
    ['requests[0].content', BATCH, { requests: [{ content: 'text' }] }],
    ['outputDimensionality', SINGLE, { ...BODY, outputDimensionality: -1 }],
    ['fileData.fileUri', SINGLE, { content: { parts: [{ fileData: { fileUri: 'files/1' } }] } }],
  ])('a wrong %s gets a 400 that names it', async (param, path, body) => {
    const { status, error } = await send(path, body)
    expect(status).toBe(400)
    expect(error.status).toBe('INVALID_ARGUMENT')
    expect(error.message).toContain(`'${param}'`)
    expect(provider.requests).toEqual([])
  })

  it('an error of Google keeps its words, but no key', async () => {
    const error = { code: 400, message: `bad key ${PROVIDER_KEY}`, status: 'INVALID_ARGUMENT' }
    provider.answers.set(`POST ${SINGLE}`, { status: 400, body: { error } })
    const { status, text } = await send(SINGLE, BODY)
    expect(status).toBe(400)
    expect(text).toContain('bad key')
    expect(text).not.toContain(PROVIDER_KEY)
  })

  it('in OpenAI’s format go to Google’s endpoint for it, with a bearer token', async () => {
    const path = '/v1beta/openai/embeddings'
    const usage = { prompt_tokens: 4, total_tokens: 4 }
    const data = [{ object: 'embedding', index: 0, embedding: [0.5] }]
    provider.answers.set(`POST ${path}`, { body: { object: 'list', data, usage } })
    const { status } = await send('/v1/embeddings', { model: MODEL, input: 'hello' })
    expect(status).toBe(200)
    const [request] = provider.requests
    expect(request?.path).toBe(path)
    expect(request?.headers).toMatchObject({ authorization: `Bearer ${PROVIDER_KEY}` })
    expect(request?.headers).not.toHaveProperty('x-goog-api-key')
    expect(await endOf()).toMatchObject({ charge: 4 })
  })
})
