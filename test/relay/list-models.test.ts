import { beforeEach, expect, it } from 'vitest'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, relayRig } from './support/relay-rig.ts'

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

it('a model names the formats of its calls, first those that need no conversion', async () => {
  const { data } = await get('/v1/models', BEARER)
  expect(data).toHaveLength(3)
  const types = ['anthropic', 'openai', 'openai-response', 'gemini']
  expect(data[0].supported_endpoint_types).toEqual(types)
  const { supported_endpoint_types } = await get('/v1/models/b', BEARER)
  expect(supported_endpoint_types).toEqual(types)
})
