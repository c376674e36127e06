import type { TSchema } from 'typebox'
import { describe, expect, it } from 'vitest'
import { loopStallMs } from '#test/support/event-loop-stall.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { budget } from '#test/support/time-limit.ts'
import {
  CreateChannel,
  DeleteChannelsBody,
  NamedTag,
  SetChannelsStatus,
  TagChannels,
  UpdateChannel,
  UpdateTag,
} from '#write-api/contract/channels.ts'
import { Login } from '#write-api/contract/login.ts'
import { CreateMessage } from '#write-api/contract/messages.ts'
import { PutOption, TestMail } from '#write-api/contract/options.ts'
import {
  Register,
  ResetPassword,
  Setup,
} from '#write-api/contract/registration-password-reset-and-setup.ts'
import { CreateToken, TokenIds, TokenStatuses, UpdateToken } from '#write-api/contract/tokens.ts'
import {
  AdjustQuota,
  CreateUser,
  ManageUser,
  UpdateSelf,
  UpdateUser,
} from '#write-api/contract/users.ts'
import { seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)

type Method = 'POST' | 'PUT'
type Fields = Record<string, TSchema & Record<string, unknown>>

/** The routes with a body: the fields of their schemas, and a valid body. */
const ROUTES: readonly (readonly [Method, string, { properties: object }, object])[] = [
  ['POST', '/api/setup', Setup, { username: 'r', password: 'x', confirmPassword: 'x' }],
  ['POST', '/api/user/login', Login, { username: 'nobody', password: 'x' }],
  ['POST', '/api/user/register', Register, { username: 'u', password: 'x' }],
  ['POST', '/api/user/reset', ResetPassword, { email: 'a@example.com', token: 'x' }],
  ['POST', '/api/option/test_mail', TestMail, { to: 'x' }],
  ['PUT', '/api/option/', PutOption, { key: 'QuotaForNewUser', value: '0' }],
  ['POST', '/api/channel/', CreateChannel, { name: 'c', key: 'k', models: 'm' }],
  ['PUT', '/api/channel/', UpdateChannel, { id: 999_999 }],
  ['POST', '/api/channel/batch', DeleteChannelsBody, { ids: [999_999] }],
  ['POST', '/api/channel/batch/status', SetChannelsStatus, { ids: [999_999], status: 1 }],
  ['POST', '/api/channel/batch/tag', TagChannels, { ids: [999_999], tag: 't' }],
  ['PUT', '/api/channel/tag', UpdateTag, { tag: 'none' }],
  ['POST', '/api/channel/tag/enabled', NamedTag, { tag: 'none' }],
  ['POST', '/api/channel/tag/disabled', NamedTag, { tag: 'none' }],
  ['POST', '/api/token/', CreateToken, { name: 't' }],
  ['PUT', '/api/token/', UpdateToken, { id: 999_999 }],
  ['POST', '/api/token/batch', TokenIds, { ids: [999_999] }],
  ['POST', '/api/token/batch/status', TokenStatuses, { ids: [999_999], status: 1 }],
  ['POST', '/api/admin/messages', CreateMessage, { title: 't', content: 'c' }],
  ['POST', '/api/user/', CreateUser, { username: 'u', password: 'x' }],
  ['PUT', '/api/user/', UpdateUser, { id: 999_999 }],
  ['PUT', '/api/user/self', UpdateSelf, {}],
  ['POST', '/api/user/manage', ManageUser, { id: 999_999, action: 'enable' }],
  [
    'POST',
    '/api/user/quota',
    AdjustQuota,
    { id: 999_999, action: 'add', amount: 5, reason: 'r', request_id: 'x' },
  ],
]

/** JSON texts with their types. A field accepts a text only if the types match. */
const VALUES: readonly (readonly [string, string])[] = [
  ['object', '{}'],
  ['object', '{"length":1}'],
  ['array', '[[]]'],
  ['boolean', 'true'],
  ['integer', '3'],
  ['number', '1.5'],
  ['number', '1e400'],
  ['number', '-1e400'],
  ['number', '9007199254740993'],
  ['number', '-9007199254740993'],
  ['string', '"1"'],
]
const BROKEN = ['NaN', 'Infinity', '-', '0x10', '01', "'x'", 'undefined', '"\\ud800"', '"a\\u0000"']

const takes = (schema: Fields[string], type: string): boolean => {
  const inner = Array.isArray(schema.anyOf) ? (schema.anyOf as Fields[string][]) : [schema]
  return inner.some((one) => one.type === type || (one.type === 'number' && type === 'integer'))
}

/** Returns a valid body in which one field has another JSON text. */
const withField = (good: object, name: string, json: string): string => {
  const rest = Object.entries(good).filter(([key]) => key !== name)
  const pairs = rest.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`)
  return `{${[...pairs, `${JSON.stringify(name)}:${json}`].join(',')}}`
}

const WHOLE: readonly string[] = [
  '',
  '{',
  'null',
  '[]',
  '"x"',
  '7',
  '{"__proto__":{"role":100}}',
  '{"constructor":{"prototype":{"role":100}}}',
  '{"a":1,"a":2}',
  `{"x":${'['.repeat(70)}${']'.repeat(70)}}`,
  '['.repeat(10_000_000),
  `{"name":"${'x'.repeat(10_000_000)}"}`,
]

describe('bad input, for every route and field', () => {
  it.each(ROUTES)('%s %s answers 4xx and writes nothing', async (method, url, schema, good) => {
    const head = await fixture.head()
    const fields = Object.entries(schema.properties as Fields)
    const bodies = fields.flatMap(([name, field]) => [
      ...VALUES.filter(([type]) => !takes(field, type)).map(([, json]) => [name, json] as const),
      ...BROKEN.map((json) => [name, json] as const),
    ])
    const texts = [
      ...bodies.map(([name, json]) => ({ name, text: withField(good, name, json) })),
      ...WHOLE.map((text) => ({ name: '', text })),
    ]
    const wrong: unknown[] = []
    for (const { name, text } of texts) {
      const answer = await fixture.root.call(method, url, {
        body: text,
        headers: { 'content-type': 'application/json', 'accept-language': 'en' },
      })
      const isNamed = answer.code !== 'InvalidField' || answer.message.includes(name)
      const is4xx = answer.status >= 400 && answer.status < 500 && answer.status !== 404
      if (!is4xx || !isNamed || answer.success) wrong.push([text.slice(0, 80), answer])
    }
    expect(wrong).toEqual([])
    expect(await fixture.head()).toBe(head)
  })

  it.each([
    ['DELETE', '/api/channel/0/'],
    ['DELETE', '/api/channel/-1/'],
    ['DELETE', '/api/channel/1e3/'],
    ['DELETE', '/api/channel/99999999999999999999/'],
    ['DELETE', '/api/token/abc/'],
    ['DELETE', '/api/token/%00/'],
    ['DELETE', '/api/token/__proto__/'],
  ] as const)('%s %s answers 400', async (method, url) => {
    expect((await fixture.root.call(method, url)).status).toBe(400)
  })

  it('no input stalls the event loop for 250 ms', async () => {
    const stallMs = await loopStallMs(async () => {
      for (const text of ['['.repeat(1_000_000), `{"name":"${'\\"'.repeat(500_000)}"}`]) {
        await fixture.root.call('POST', '/api/channel/', { body: text })
      }
    })
    expect(stallMs).toBeLessThan(budget(250))
  })
})

describe('a name that is a JavaScript property', () => {
  it.each(['constructor', '__proto__', 'toString'])(
    '%s is accepted as a model name',
    async (name) => {
      const body = { name, key: 'k', models: name, group: 'default' }
      const { data } = await fixture.root.call<{ id: number }>('POST', '/api/channel/', { body })
      const row = await fixture.root.call('GET', `/api/channel/${data.id}`)
      expect(row.data).toMatchObject({ name, models: name })
    },
  )
})
