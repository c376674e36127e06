import OpenAI from 'openai'
import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, relayRig, USER } from '../support/relay-rig.ts'
import { scriptedProvider } from '../support/scripted-provider.ts'

const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)
const CLAUDE = 'claude-opus-4-5'
const GPT = 'gpt-6-astra'
const OTHER_KEY = 'otherotherotherotherotherotherotherotherother'
const USAGE = { input_tokens: 100, output_tokens: 10 }
const MESSAGE = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: CLAUDE, usage: USAGE },
  ...{ content: [{ type: 'text', text: 'Hi.' }], stop_reason: 'end_turn' },
}
const RESPONSE = {
  ...{ id: 'resp_1', object: 'response', model: GPT, status: 'completed', store: true },
  ...{ output: [], usage: { ...USAGE, total_tokens: 110 } },
}

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 14, baseUrl: provider.url, models: [CLAUDE] })
  await rig.addChannel(3, { type: 1, baseUrl: `${provider.url}/below`, models: [GPT] })
  await rig.setOption('ModelRatio', { [CLAUDE]: 1, [GPT]: 1 })
  await rig.setOption('StoreConvertedResponsesEnabled', 'true')
  await rig.addToken(4, USER, OTHER_KEY)
  provider.answers.set('POST /v1/messages', { body: MESSAGE })
  provider.answers.set('POST /below/v1/responses', { body: RESPONSE })
})

const client = (key = KEY) =>
  new OpenAI({ apiKey: `sk-${key}`, baseURL: `${rig.url}/v1`, maxRetries: 0, logLevel: 'off' })

async function ask(method: string, path: string, key = KEY) {
  const headers = { authorization: `Bearer sk-${key}` }
  const response = await fetch(`${rig.url}/v1/responses/${path}`, { method, headers })
  return { status: response.status, json: JSON.parse(await response.text()) }
}

const INPUT = [
  { role: 'user' as const, content: 'One' },
  { role: 'assistant' as const, content: 'Two' },
  { type: 'function_call' as const, call_id: 'c1', name: 'f', arguments: '{}' },
  { type: 'function_call_output' as const, call_id: 'c1', output: 'Three' },
]

describe('the input of a converted response', () => {
  it('is listed in pages, in both orders', async () => {
    const { id } = await client().responses.create({ model: CLAUDE, input: INPUT })
    const types: unknown[] = []
    const pages = client().responses.inputItems.list(id, { order: 'asc', limit: 3 })
    for await (const item of pages) types.push(item.type)
    expect(types).toEqual(['message', 'message', 'function_call', 'function_call_output'])
    const { json } = await ask('GET', `${id}/input_items`)
    expect(json).toMatchObject({
      ...{ object: 'list', has_more: false, first_id: json.data[0].id, last_id: json.data[3].id },
      data: [
        { type: 'function_call_output', output: 'Three' },
        { type: 'function_call', name: 'f' },
        { type: 'message', content: [{ type: 'output_text', text: 'Two' }] },
        { type: 'message', content: [{ type: 'input_text', text: 'One' }] },
      ],
    })
    expect(new Set(json.data.map((item: { id: string }) => item.id)).size).toBe(4)
    expect(await rig.callEvents()).toHaveLength(2)
  })

  it.each(['limit=0', 'limit=101', 'limit=x', 'order=up', 'after=unknown'])(
    'is not listed with %s',
    async (query) => {
      const { id } = await client().responses.create({ model: CLAUDE, input: 'Hi' })
      const { status, json } = await ask('GET', `${id}/input_items?${query}`)
      expect([status, json.error.param]).toEqual([400, query.split('=')[0]])
      if (query.startsWith('limit')) expect(json.error.message).toContain('1–100')
    },
  )

  it('is listed only for the token that made it', async () => {
    const { id } = await client().responses.create({ model: CLAUDE, input: 'Hi' })
    const { status, json } = await ask('GET', `${id}/input_items`, OTHER_KEY)
    expect([status, json.error.code]).toEqual([404, 'response_not_found'])
  })

  it('is not there if it was too long to be stored', async () => {
    const input = 'word '.repeat(250_000)
    const { id } = await client().responses.create({ model: CLAUDE, input })
    const { status, json } = await ask('GET', `${id}/input_items`)
    expect([status, json.error.code]).toEqual([404, 'input_items_not_stored'])
  })
})

it('a converted response repeats short instructions and tools', async () => {
  const tool = {
    ...{ type: 'function' as const, name: 'f', strict: false },
    parameters: { type: 'object' },
  }
  const request = { model: CLAUDE, input: 'Hi', instructions: 'Be brief.', tools: [tool] }
  const response = await client().responses.create(request)
  expect(response).toMatchObject({ instructions: 'Be brief.', tools: [tool] })
  const long = { ...tool, description: 'x'.repeat(5_000) }
  const other = await client().responses.create({ ...request, tools: [long] })
  expect(other).toMatchObject({ instructions: 'Be brief.', tools: [] })
})

describe('a cancellation', () => {
  it('of a converted response is refused, because it was not in the background', async () => {
    const { id } = await client().responses.create({ model: CLAUDE, input: 'Hi' })
    const { status, json } = await ask('POST', `${id}/cancel`)
    expect([status, json.error.code]).toEqual([400, 'response_not_cancellable'])
    expect((await ask('POST', `${id}/cancel`, OTHER_KEY)).status).toBe(404)
    expect((await ask('GET', id)).status).toBe(200)
  })

  it('of another response is answered by its provider', async () => {
    await client().responses.create({ model: GPT, input: 'Hi' })
    const words = 'Cannot cancel a synchronous response.'
    const body = { error: { message: words, type: 'invalid_request_error' } }
    provider.answers.set('POST /below/v1/responses/resp_1/cancel', { status: 400, body })
    const { status, json } = await ask('POST', 'resp_1/cancel')
    expect([status, json.error.message]).toEqual([400, words])
    expect(await rig.callEvents()).toHaveLength(2)
  })

  it('of a response of another token is not sent', async () => {
    await client().responses.create({ model: GPT, input: 'Hi' })
    const { status, json } = await ask('POST', 'resp_1/cancel', OTHER_KEY)
    expect([status, json.error.code]).toEqual([404, 'response_not_found'])
    expect(provider.requests).toHaveLength(1)
  })
})

it('a response of a fallback model names this model, as its first answer did', async () => {
  await rig.setOption('ModelRatio', { older: 1, [GPT]: 1 })
  await rig.setOption('ModelFallbacks', { older: [GPT] })
  expect(await client().responses.create({ model: 'older', input: 'Hi' })).toMatchObject({
    model: GPT,
  })
  provider.answers.set('GET /below/v1/responses/resp_1', { body: RESPONSE })
  expect(await ask('GET', 'resp_1')).toMatchObject({ status: 200, json: { model: GPT } })
})

it('the input of a response is listed by its provider, with valid parameters', async () => {
  await client().responses.create({ model: GPT, input: 'Hi' })
  const items = [{ id: 'msg_1', type: 'message', role: 'user', content: [{ model: 'mine' }] }]
  const list = { object: 'list', data: items, has_more: false }
  provider.answers.set('GET /below/v1/responses/resp_1/input_items', { body: list })
  const query = 'limit=5&order=asc&after=msg_0&include[]=a.b&secret=1&limit=%26x'
  expect(await ask('GET', `resp_1/input_items?${query}`)).toEqual({ status: 200, json: list })
  expect(provider.requests.at(-1)?.path).toBe(
    '/below/v1/responses/resp_1/input_items?include[]=a.b&after=msg_0&limit=5&order=asc',
  )
})

it.each([
  ['POST', 'resp_1/input_items', 'GET'],
  ['GET', 'resp_1/cancel', 'POST'],
  ['POST', 'resp_1', 'GET, DELETE'],
])('%s %s is refused with the methods of the path', async (method, path, methods) => {
  const { status, json } = await ask(method, path)
  expect([status, json.error.message]).toEqual([405, expect.stringContaining(methods)])
})
