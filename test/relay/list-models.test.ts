import Anthropic from '@anthropic-ai/sdk'
import { beforeEach, describe, expect, it } from 'vitest'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, relayRig, USER } from './support/relay-rig.ts'

const rig = startedForEach(relayRig)
const MODELS = ['a', 'b', 'c']

beforeEach(async () => {
  await rig.addChannel(1, { type: 14, models: MODELS })
  await rig.setOption('ModelRatio', { a: 1, b: 1, c: 1 })
})

const get = async (path: string, headers: Record<string, string>) =>
  JSON.parse(await (await fetch(`${rig.url}${path}`, { headers })).text())

const BEARER = { authorization: `Bearer sk-${KEY}` }
const ANTHROPIC = { 'x-api-key': `sk-${KEY}`, 'anthropic-version': '2023-06-01' }
const GOOGLE = { 'x-goog-api-key': `sk-${KEY}` }

it.each([
  ['OpenAI', '/v1/models?limit=2', BEARER, 'data', 'id'],
  ['Anthropic', '/v1/models?limit=2', ANTHROPIC, 'data', 'id'],
  ['Gemini', '/v1beta/models?pageSize=2', GOOGLE, 'models', 'displayName'],
])('the list in the format of %s has at most as many models as requested', async (...row) => {
  const [, path, headers, list, name] = row
  const answer = await get(path, headers)
  expect(answer[list].map((model: Record<string, unknown>) => model[name])).toEqual(['a', 'b'])
})

it.each([
  ['before_id=c', ['a', 'b'], false],
  ['before_id=c&limit=1', ['b'], true],
  ['before_id=a', [], false],
  ['after_id=a&limit=1', ['b'], true],
  ['after_id=a&before_id=c', ['b'], false],
])('the list in the format of Anthropic has the page %s', async (query, ids, hasMore) => {
  const { data, has_more, first_id, last_id } = await get(`/v1/models?${query}`, ANTHROPIC)
  expect(data.map(({ id }: { readonly id: string }) => id)).toEqual(ids)
  expect({ has_more, first_id, last_id }).toEqual({
    ...{ has_more: hasMore, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null },
  })
})

it.each([
  ['a', 400],
  ['-1', 400],
  ['1.5', 400],
  ['0', 200],
  ['', 200],
])('the list in the format of Gemini refuses an invalid size of a page: %s', async (size, is) => {
  const path = `/v1beta/models?pageSize=${size}`
  const response = await fetch(`${rig.url}${path}`, { headers: GOOGLE })
  expect(response.status).toBe(is)
  if (is === 400) expect(await response.text()).toContain('pageSize')
  else expect((await get(path, GOOGLE)).models.length).toBeGreaterThan(0)
})

it.each([
  ['OpenAI', '/v1/models/', BEARER, 'data'],
  ['Anthropic', '/v1/models/?limit=1000', ANTHROPIC, 'data'],
  ['Gemini', '/v1beta/models/', GOOGLE, 'models'],
])('the list in the format of %s is also found with a slash at its end', async (...row) => {
  const [, path, headers, list] = row
  expect((await get(path, headers))[list]).toHaveLength(MODELS.length)
})

it.each([
  ['OpenAI', '/v1/models', 'authorization', 'data', 'id'],
  ['Anthropic', '/v1/models?limit=1000', 'x-api-key', 'data', 'id'],
  ['Gemini', '/v1beta/models', 'x-goog-api-key', 'models', 'displayName'],
])('the list in the format of %s has only what the token may call', async (...row) => {
  const [format, path, header, list, name] = row
  const key = 'L'.repeat(48)
  // Neither offered to the group of the user, nor priced, nor allowed to the token.
  await rig.addChannel(2, { models: ['of-another-group'], groups: ['another'] })
  await rig.addChannel(3, { models: ['unpriced'] })
  await rig.setOption('ModelRatio', { a: 1, b: 1, c: 1, 'of-another-group': 1 })
  const models = ['b', 'of-another-group', 'unpriced', 'unknown']
  await rig.addToken(31, USER, key, { models })
  const version = format === 'Anthropic' ? { 'anthropic-version': '2023-06-01' } : {}
  const value = header === 'authorization' ? `Bearer sk-${key}` : `sk-${key}`
  const headers = { [header]: value, ...version }
  const answer = await get(path, headers)
  expect(answer[list].map((model: Record<string, unknown>) => model[name])).toEqual(['b'])
  for (const hidden of ['a', 'of-another-group', 'unpriced']) {
    const [base] = path.split('?')
    expect((await fetch(`${rig.url}${base}/${hidden}`, { headers })).status).toBe(404)
  }
})

it('a model in the format of Anthropic has all members that its client declares', async () => {
  await rig.setOption('MaxOutputTokens', { b: 4_096 })
  const client = new Anthropic({ apiKey: `sk-${KEY}`, baseURL: rig.url, maxRetries: 0 })
  const expected: Anthropic.ModelInfo = {
    ...{ type: 'model', id: 'b', display_name: 'b', created_at: '2023-11-14T22:13:20.000Z' },
    ...{ lifecycle: 'active', deprecated_at: null, retires_at: null, line: null },
    ...{ capabilities: null, max_input_tokens: null, max_tokens: 4_096 },
  }
  expect(await client.models.retrieve('b')).toEqual(expected)
  const { data } = await client.models.list()
  expect(data[1]).toEqual(expected)
  expect(data[0]?.max_tokens).toBeNull()
  expect((await get('/v1beta/models/b', GOOGLE)).outputTokenLimit).toBe(4_096)
})

it('a model names the formats of its calls, first those that need no conversion', async () => {
  const { data } = await get('/v1/models', BEARER)
  expect(data).toHaveLength(3)
  const types = ['anthropic', 'openai', 'openai-response', 'gemini']
  expect(data[0].supported_endpoint_types).toEqual(types)
  const { supported_endpoint_types } = await get('/v1/models/b', BEARER)
  expect(supported_endpoint_types).toEqual(types)
})

it('a model that only embeds or orders texts names the formats of these calls', async () => {
  const models = ['text-embedding-3-small', 'omni-moderation-latest', 'gpt-4o']
  await rig.addChannel(2, { type: 1, models })
  await rig.addChannel(3, { type: 38, models: ['jina-reranker-v3', 'jina-other'] })
  await rig.addChannel(4, { type: 24, models: ['gemini-embedding-001'] })
  const ratio = { 'jina-reranker-v3': 1, 'jina-other': 1, 'gemini-embedding-001': 1, a: 1 }
  await rig.setOption('ModelRatio', ratio)
  const { data } = (await get('/v1/models', BEARER)) as {
    data: { id: string; supported_endpoint_types: string[] }[]
  }
  const types = Object.fromEntries(data.map((model) => [model.id, model.supported_endpoint_types]))
  expect(types).toMatchObject({
    'text-embedding-3-small': ['embeddings'],
    'omni-moderation-latest': ['moderations'],
    'jina-reranker-v3': ['jina-rerank'],
    'jina-other': ['embeddings', 'jina-rerank'],
    'gemini-embedding-001': ['embeddings', 'gemini'],
  })
  expect(types['gpt-4o']?.[0]).toBe('openai')
  const list = (await get('/v1beta/models', GOOGLE)) as {
    models: { displayName: string; supportedGenerationMethods: string[] }[]
  }
  const methods = (id: string) =>
    list.models.find((model) => model.displayName === id)?.supportedGenerationMethods
  expect(methods('gemini-embedding-001')).toEqual(['embedContent', 'batchEmbedContents'])
  expect(methods('text-embedding-3-small')).toEqual([])
  expect(methods('a')).toContain('generateContent')
})

it('a model of speech, transcriptions or realtime sessions names no format of chats', async () => {
  const models = ['tts-1', 'gpt-4o-mini-tts', 'whisper-1', 'gpt-4o-transcribe', 'gpt-realtime']
  await rig.addChannel(2, { type: 1, models: [...models, 'gpt-audio'] })
  // Gemini's models of speech are called like those for chats, also at other gateways.
  const ofGemini = ['gemini-2.5-flash-preview-tts', 'gemini-2.5-pro-preview-tts']
  await rig.addChannel(3, { type: 24, models: ofGemini.slice(0, 1) })
  await rig.addChannel(4, { type: 8, models: ofGemini.slice(1) })
  await rig.setOption('SelfUseModeEnabled', 'true')
  const { data } = (await get('/v1/models', BEARER)) as {
    data: { id: string; supported_endpoint_types: string[] }[]
  }
  const types = Object.fromEntries(data.map((model) => [model.id, model.supported_endpoint_types]))
  expect(types).toMatchObject({
    ...{ 'tts-1': ['speech'], 'gpt-4o-mini-tts': ['speech'], 'gpt-realtime': ['realtime'] },
    ...{ 'whisper-1': ['transcriptions', 'translations'] },
    ...{ 'gpt-4o-transcribe': ['transcriptions'] },
  })
  expect(types['gpt-audio']).toContain('openai')
  expect(ofGemini.map((model) => types[model]?.[0])).toEqual(['gemini', 'openai'])
  expect((await get('/v1beta/models/whisper-1', GOOGLE)).supportedGenerationMethods).toEqual([])
})

it('a model that is a video at its channels is listed with the endpoint of videos', async () => {
  await rig.addChannel(2, {
    ...{ type: 1, models: ['my-video', 'gpt-4o', 'kling-v2-6'] },
    modelMapping: '{"my-video":"latest","latest":"sora-2"}',
  })
  await rig.addChannel(3, { type: 55, models: ['sora-2'] })
  await rig.addChannel(4, { type: 17, models: ['wan2.6', 'qwen-max', 'wan-unpriced'] })
  await rig.addChannel(5, { type: 50, models: ['kling-v2-6', 'kling-unpriced'] })
  await rig.setOption('ModelRatio', { 'gpt-4o': 1, 'qwen-max': 1 })
  await rig.setOption('ModelPrice', { 'my-video': 1, 'sora-2': 1, 'wan2.6': 1, 'kling-v2-6': 1 })
  const { data } = (await get('/v1/models', BEARER)) as {
    data: { id: string; supported_endpoint_types: string[] }[]
  }
  const types = new Map(data.map((model) => [model.id, model.supported_endpoint_types]))
  for (const name of ['my-video', 'sora-2', 'wan2.6']) {
    expect([name, types.get(name)]).toEqual([name, ['openai-video']])
  }
  expect(types.get('kling-v2-6')?.slice(0, 1)).toEqual(['openai'])
  expect(types.get('kling-v2-6')?.slice(-1)).toEqual(['openai-video'])
  for (const name of ['gpt-4o', 'qwen-max']) {
    expect(types.get(name)).not.toContain('openai-video')
  }
  expect(types.has('kling-unpriced')).toBe(false)
  expect((await get('/v1/models/sora-2', BEARER)).id).toBe('sora-2')
})

it('Gemini’s list names the methods that predict images and videos', async () => {
  const models = ['imagen-4.0-generate-001', 'veo-3.1-fast-generate-preview', 'gemini-2.5-pro']
  await rig.addChannel(2, { type: 24, models })
  await rig.addChannel(3, { type: 55, models: ['sora-2'] })
  await rig.setOption('ModelRatio', { 'gemini-2.5-pro': 1 })
  await rig.setOption('ModelPrice', {
    [models[0] ?? '']: 0.04,
    [models[1] ?? '']: 0.15,
    'sora-2': 1,
  })
  const list = (await get('/v1beta/models', GOOGLE)).models as {
    readonly displayName: string
    readonly supportedGenerationMethods: string[]
  }[]
  const methods = new Map(
    list.map((model) => [model.displayName, model.supportedGenerationMethods]),
  )
  expect(methods.get('imagen-4.0-generate-001')).toEqual(['predict'])
  expect(methods.get('veo-3.1-fast-generate-preview')).toEqual(['predictLongRunning'])
  const chat = ['generateContent', 'streamGenerateContent', 'countTokens']
  expect(methods.get('gemini-2.5-pro')).toEqual(chat)
  // This endpoint serves only the videos of Veo.
  expect(methods.get('sora-2')).toEqual([])
})

describe('a model whose videos are refused as unpriced is not listed', () => {
  const listed = async () => {
    const { data } = (await get('/v1/models', BEARER)) as {
      data: { id: string; supported_endpoint_types: string[] }[]
    }
    return new Map(data.map((model) => [model.id, model.supported_endpoint_types]))
  }
  const video = async (model: string) => {
    const body = JSON.stringify({ model, prompt: 'A lake' })
    const headers = { ...BEARER, 'content-type': 'application/json' }
    const answer = await fetch(`${rig.url}/v1/videos`, { method: 'POST', headers, body })
    return JSON.parse(await answer.text()).error?.code
  }
  const acceptUnpriced = () =>
    rig.append(`user-${USER}`, {
      type: 'UserSettingsChanged',
      v: 1,
      data: { userId: USER, settings: { acceptUnsetModelRatioModel: true, showIpInLogs: false } },
    })

  beforeEach(async () => {
    await rig.addChannel(2, { type: 1, models: ['sora-3', 'kling-v3'] })
    await rig.addChannel(3, { type: 50, models: ['kling-v3', 'kling-unpriced'] })
    await rig.addChannel(4, { type: 54, models: ['doubao-seedance-9'] })
  })

  it('in self-use mode, except at a vendor that counts tokens', async () => {
    await rig.setOption('SelfUseModeEnabled', 'true')
    const types = await listed()
    for (const model of ['kling-unpriced', 'sora-3']) {
      expect([model, await video(model), types.has(model)]).toEqual([
        model,
        'model_unpriced',
        false,
      ])
    }
    expect(types.get('doubao-seedance-9')).toEqual(['openai-video'])
    expect(types.get('kling-v3')).not.toContain('openai-video')
  })

  it('to a user who accepts models without a price', async () => {
    await acceptUnpriced()
    const types = await listed()
    for (const model of ['kling-unpriced', 'sora-3', 'doubao-seedance-9']) {
      expect([model, await video(model), types.has(model)]).toEqual([
        model,
        'model_unpriced',
        false,
      ])
    }
    expect(types.get('kling-v3')).toContain('openai')
    expect(types.get('kling-v3')).not.toContain('openai-video')
  })

  it('with a price per token, except at a vendor that counts tokens', async () => {
    await rig.setOption('ModelRatio', { 'sora-3': 1, 'doubao-seedance-9': 1 })
    const types = await listed()
    expect([await video('sora-3'), types.has('sora-3')]).toEqual(['model_unpriced', false])
    expect(types.get('doubao-seedance-9')).toEqual(['openai-video'])
  })
})

it('the formats of a model follow a new channel for which it is no video', async () => {
  await rig.setOption('ModelPrice', { film: 1 })
  const types = async () => (await get('/v1/models/film', BEARER)).supported_endpoint_types
  await rig.addChannel(2, { type: 1, models: ['film'], modelMapping: '{"film":"sora-2"}' })
  expect(await types()).toEqual(['openai-video'])
  await rig.addChannel(3, { type: 1, models: ['film'] })
  expect([(await types())[0], (await types()).at(-1)]).toEqual(['openai', 'openai-video'])
})

it('the list answers HEAD, with which monitors check that a key is valid', async () => {
  const head = (headers: Record<string, string>) =>
    fetch(`${rig.url}/v1/models`, { method: 'HEAD', headers })
  expect([(await head(BEARER)).status, (await head({})).status]).toEqual([200, 401])
  const other = await fetch(`${rig.url}/v1/models`, { method: 'PUT', headers: BEARER })
  expect([other.status, other.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
})
