import { beforeAll, describe, expect, it } from 'vitest'
import type { Channel } from '#read-api/contract/channels.ts'
import type { PriceChange } from '#read-api/contract/options.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)
let channel: number

beforeAll(async () => {
  const body = { name: 'c', key: 'sk-c', models: 'm' }
  channel = (await fixture.root.call<{ id: number }>('POST', '/api/channel/', { body })).data.id
})

type Method = 'POST' | 'PUT'
const english = { 'accept-language': 'en' }
const send = (method: Method, url: string, body: object) =>
  fixture.root.call(method, url, { body, headers: english })
const option = (key: string, value: string) => ({ key, value })
const create = (fields: object) => ({ name: 'c', key: 'sk', models: 'm', ...fields })

describe('a text with an invalid character', () => {
  it.each([
    ['PUT', '/api/option/', option('ModelRatio', '{"\\u0000":1}'), 'ModelRatio'],
    ['PUT', '/api/option/', option('ModelRatio', '{"a\\ud800":1}'), 'ModelRatio'],
    ['PUT', '/api/option/', option('ModelRatio', '{"a\\u200bb":1}'), 'ModelRatio'],
    ['PUT', '/api/option/', option('UserUsableGroups', '{"a":"\\u0000"}'), 'UserUsableGroups'],
    ['PUT', '/api/option/', option('GroupGroupRatio', '{"a":{"\\udc00":1}}'), 'GroupGroupRatio'],
    ['PUT', '/api/option/', option('gemini.safety_settings', '{"a":"\\u0007"}'), 'gemini'],
    ['PUT', '/api/option/', option('Chats', '[{"a\\u0000":"https://a.b"}]'), 'Chats'],
    ['PUT', '/api/option/', option('SMTPToken', 'a\u001bb'), 'SMTPToken'],
    ['POST', '/api/channel/', create({ model_mapping: '{"a":"\\u0000"}' }), 'model_mapping'],
    ['POST', '/api/channel/', create({ model_mapping: '{"\\ud800":"a"}' }), 'model_mapping'],
    ['POST', '/api/channel/', create({ setting: '{"proxy":"\\u0000"}' }), 'setting'],
    ['POST', '/api/channel/', create({ param_override: '{"a":["\\udfff"]}' }), 'param_override'],
    ['POST', '/api/channel/', create({ status_code_mapping: '{"\\u0000":500}' }), 'status_code'],
    ['POST', '/api/channel/', create({ models: 'a,b\u202e' }), 'models'],
    ['POST', '/api/channel/', create({ name: 'a\u0007' }), 'name'],
    ['POST', '/api/channel/', create({ tag: 'a\nb' }), 'tag'],
    ['POST', '/api/channel/', create({ group: 'default,a\u200b' }), 'group'],
    ['POST', '/api/channel/', create({ key: 'sk-\u0001' }), 'key'],
    ['POST', '/api/channel/', create({ other: 'v\u0002' }), 'other'],
    ['POST', '/api/channel/batch/tag', { ids: [1], tag: 'a\u202eb' }, 'tag'],
    ['POST', '/api/token/', { name: 'a\u0007b' }, 'name'],
    ['POST', '/api/admin/messages', { title: 'a\u0007', content: 'a' }, 'title'],
    ['POST', '/api/admin/messages', { title: 'a', content: 'a\u0007' }, 'content'],
    ['POST', '/api/token/', { name: 'a', group: 'd\u200b' }, 'group'],
    ['POST', '/api/token/', { name: 'a', model_limits_enabled: true, model_limits: 'a\u200b' }, ''],
  ] as const)(
    'is refused by the name of its field in %s %s %j',
    async (method, url, body, name) => {
      const head = await fixture.head()
      const answer = await send(method, url, body)
      expect(answer).toMatchObject({ status: 400, success: false })
      expect(answer.message).toContain(name)
      expect(answer.message).toContain('contains a character that is not allowed')
      expect(await fixture.head()).toBe(head)
    },
  )

  it('does not prevent disabling the channel in a later request', async () => {
    expect(await send('PUT', '/api/channel/', { id: channel, tag: 'a\u0007' })).toMatchObject({
      status: 400,
    })
    expect(await send('PUT', '/api/channel/', { id: channel, status: 2 })).toMatchObject({
      success: true,
    })
  })
})

describe('a name that is a JavaScript property', () => {
  const names = ['prototype', 'constructor', 'toString']

  it('__proto__ is refused by name in every map, and nothing is written', async () => {
    const head = await fixture.head()
    const [flat, nested] = ['{"__proto__":1}', '{"a":{"__proto__":1}}']
    for (const [key, value] of [
      ...['ModelRatio', 'ModelPrice', 'GroupRatio', 'TopUpCodes'].map((map) => [map, flat]),
      ['GroupGroupRatio', nested],
      ['UserUsableGroups', flat],
    ]) {
      const answer = await send('PUT', '/api/option/', option(key ?? '', value ?? ''))
      expect([key, answer.status, answer.success]).toEqual([key, 400, false])
      expect(answer.message).toContain('__proto__')
    }
    expect(await fixture.head()).toBe(head)
  })

  it('is accepted as a model with a price', async () => {
    const prices = '{"prototype":3,"constructor":4,"toString":5}'
    expect(await send('PUT', '/api/option/', option('ModelRatio', prices))).toMatchObject({
      success: true,
    })
    for (const [index, name] of names.entries()) {
      const { data } = await fixture.root.call<{ items: PriceChange[] }>(
        'GET',
        `/api/option/price_history?model=${name}`,
      )
      expect(data.items[0]).toMatchObject({ model: name, before: null, after: `${index + 3}` })
    }
    const shown = await fixture.root.call<{ key: string; value: string }[]>('GET', '/api/option/')
    const { value = '' } = shown.data.find(({ key }) => key === 'ModelRatio') ?? {}
    expect(value.replace(/\s/g, '')).toBe(prices)
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  it('is accepted in a mapping, but no text of a channel accepts __proto__', async () => {
    const mapping = '{"constructor":"y"}'
    await send('PUT', '/api/channel/', { id: channel, model_mapping: mapping })
    const head = await fixture.head()
    for (const field of ['model_mapping', 'status_code_mapping', 'param_override', 'setting']) {
      for (const text of ['{"__proto__":"x"}', '{"a":[{"\\u005f_proto__":1}]}']) {
        const answer = await send('PUT', '/api/channel/', { id: channel, [field]: text })
        expect([field, answer.status, answer.code]).toEqual([field, 400, 'InvalidField'])
        expect(answer.message).toContain(field)
        expect(answer.message).toContain('__proto__')
      }
    }
    expect(await fixture.head()).toBe(head)
    const { data } = await fixture.root.call<Channel>('GET', `/api/channel/${channel}`)
    expect(data.model_mapping).toBe(mapping)
    expect(Object.keys(Object.prototype)).toEqual([])
  })
})
