import OpenAI from 'openai'
import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, PROVIDER_KEY, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const MODEL = 'text-embedding-005'
const PATH = `/v1/publishers/google/models/${MODEL}:predict`
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

const TEXT = 'The capital of France is Paris. '.repeat(10)
const VECTOR = [0.5, -1, 2]
const prediction = (tokens: unknown) => ({
  embeddings: { values: VECTOR, statistics: { token_count: tokens, truncated: false } },
})
const answerWith = (...tokens: unknown[]) =>
  provider.answers.set(`POST ${PATH}`, { body: { predictions: tokens.map(prediction) } })

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 41, baseUrl: provider.url, models: [MODEL, 'mine'] })
  await rig.setOption('ModelRatio', { [MODEL]: 1 })
  answerWith(30, 20)
})

async function send(path: string, body: object) {
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { 'x-goog-api-key': `sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
}

type End = { readonly usage: { readonly inputUncached: number }; readonly charge: number }
const endOf = async () => (await onlyEnd(rig)).data as unknown as End
const sentBody = () => JSON.parse(provider.requests[0]?.body ?? '')

describe('embeddings of an older model on Vertex AI', () => {
  it('are requested and answered in OpenAI’s format', async () => {
    const client = new OpenAI({ apiKey: `sk-${KEY}`, baseURL: `${rig.url}/v1`, maxRetries: 0 })
    const answer = await client.embeddings.create({
      model: MODEL,
      input: [TEXT, 'b'],
      dimensions: 3,
    })
    expect(answer.data.map(({ embedding }) => embedding)).toEqual([VECTOR, VECTOR])
    expect(answer).toMatchObject({ model: MODEL, usage: { prompt_tokens: 50 } })
    expect(provider.requests[0]?.path).toBe(PATH)
    expect(provider.requests[0]?.headers).toMatchObject({ 'x-goog-api-key': PROVIDER_KEY })
    expect(sentBody()).toEqual({
      instances: [{ content: TEXT }, { content: 'b' }],
      parameters: { outputDimensionality: 3 },
    })
    expect(await endOf()).toMatchObject({
      charge: 50,
      usageSource: 'upstream',
      anomaly: null,
      formats: ['embeddings'],
    })
  })

  it('are requested and answered in Gemini’s formats', async () => {
    const content = { parts: [{ text: 'a' }, { text: 'b' }] }
    const one = await send(`/v1beta/models/${MODEL}:embedContent`, {
      content,
      taskType: 'RETRIEVAL_DOCUMENT',
      title: 't',
    })
    expect(one.body).toEqual({ embedding: { values: VECTOR } })
    expect(sentBody()).toEqual({
      instances: [{ content: 'ab', task_type: 'RETRIEVAL_DOCUMENT', title: 't' }],
    })
    const requests = [{ model: `models/${MODEL}`, content, outputDimensionality: 3 }]
    const batch = await send(`/v1beta/models/${MODEL}:batchEmbedContents`, { requests })
    expect(batch.body).toEqual({ embeddings: [{ values: VECTOR }, { values: VECTOR }] })
  })

  it('name the members that `predict` does not have', async () => {
    const lossesOf = async (path: string, body: object) =>
      (await send(path, body)).headers.get('x-conversion-loss')
    const plain = { model: MODEL, input: ['a', 'b'], encoding_format: 'float', user: null }
    expect(await lossesOf('/v1/embeddings', plain)).toBeNull()
    const more = { ...plain, user: 'u', input_type: 'query', service_tier: 'priority' }
    expect(await lossesOf('/v1/embeddings', more)).toBe('user, input_type, service_tier')
    const content = { parts: [{ text: 'a' }] }
    const one = { content, task_type: 'RETRIEVAL_QUERY', output_dimensionality: 3, labels: {} }
    expect(await lossesOf(`/v1beta/models/${MODEL}:embedContent`, one)).toBe('labels')
    const request = { model: `models/${MODEL}`, content }
    const requests = [request, { ...request, autoTruncate: false }]
    const batch = { requests, labels: {} }
    expect(await lossesOf(`/v1beta/models/${MODEL}:batchEmbedContents`, batch)).toBe(
      'labels, requests[1].autoTruncate',
    )
  })

  it.each([
    ['missing', undefined, 'missing'],
    ['negative', -5, 'negative'],
    ['text', '70', 'not-a-number'],
    ['huge', 1e12, 'absurd'],
  ])('with a usage that is %s are billed by our own count', async (_name, tokens, anomaly) => {
    answerWith(tokens)
    await send('/v1/embeddings', { model: MODEL, input: TEXT })
    const end = await endOf()
    expect(end).toMatchObject({ anomaly, end: 'done' })
    expect(end.usage.inputUncached).toBeGreaterThanOrEqual(70)
    expect(end.usage.inputUncached).toBeLessThan(1_000)
  })

  it.each([
    ['input', '/v1/embeddings', { model: MODEL, input: [1, 2, 3] }],
    ['input', '/v1/embeddings', { model: MODEL, input: [{ image: 'a' }] }],
    [
      'content',
      `/v1beta/models/${MODEL}:embedContent`,
      { content: { parts: [{ inlineData: { data: 'AA', mimeType: 'image/png' } }] } },
    ],
    [
      'requests',
      `/v1beta/models/${MODEL}:batchEmbedContents`,
      {
        requests: [1, 2].map((outputDimensionality) => ({
          model: `models/${MODEL}`,
          content: { parts: [{ text: 'a' }] },
          outputDimensionality,
        })),
      },
    ],
  ])('refuse what the API does not have (%s)', async (param, path, body) => {
    const { status, text } = await send(path, body)
    expect(status).toBe(400)
    expect(text).toContain(`'${param}'`)
    expect(provider.requests).toEqual([])
  })

  it('cost nothing if the answer can not be read', async () => {
    provider.answers.set(`POST ${PATH}`, { body: { predictions: 'none' } })
    const { status } = await send('/v1/embeddings', { model: MODEL, input: 'a' })
    expect(status).toBe(502)
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
  })

  it('an error of Google keeps its words, but no key', async () => {
    const error = { code: 400, message: `bad key ${PROVIDER_KEY}`, status: 'INVALID_ARGUMENT' }
    provider.answers.set(`POST ${PATH}`, { status: 400, body: { error } })
    const { status, text } = await send('/v1/embeddings', { model: MODEL, input: 'a' })
    expect(status).toBe(400)
    expect(text).toContain('bad key')
    expect(text).not.toContain(PROVIDER_KEY)
  })
})
