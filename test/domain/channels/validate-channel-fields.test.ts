import { describe, expect, it } from 'vitest'
import type { ChannelTerms } from '#domain/channels/events.ts'
import { invalidFieldError, proxyOf, proxyToUse } from '#domain/channels/validate-channel-fields.ts'
import { codedError } from '#domain/shared/coded-error.ts'
import { createChannel, given, TERMS } from './facts.ts'

const errorOf = (change: Partial<ChannelTerms>) => invalidFieldError({ ...TERMS, ...change })
const chain = (links: number): string =>
  JSON.stringify(
    Object.fromEntries(Array.from({ length: links }, (_, n) => [`m${n}`, `m${n + 1}`])),
  )
const nested = (depth: number): string =>
  ['{"a":'.repeat(depth - 1), '{}', '}'.repeat(depth - 1)].join('')

describe('the text fields of a channel', () => {
  it('can be empty', () => {
    expect(errorOf({ baseUrl: '' })).toBeNull()
  })

  it.each([
    'ftp://example.com',
    'javascript:alert(1)',
    'example.com',
    'https://user@example.com',
    'https://user:pass@example.com',
    'https://example.com\\@evil.com',
    'https://exa mple.com',
    'http://',
  ])('refuse the address %s', (baseUrl) => {
    expect(errorOf({ baseUrl })).toEqual({ field: 'base_url', error: 'not-url' })
  })

  it.each(['https://example.com', 'http://127.0.0.1:8080/v1', 'https://[::1]/'])(
    'accept the address %s; the connection decides which hosts are allowed',
    (baseUrl) => {
      expect(errorOf({ baseUrl })).toBeNull()
    },
  )

  const json = [
    ['model_mapping', 'modelMapping'],
    ['status_code_mapping', 'statusCodeMapping'],
    ['setting', 'setting'],
    ['param_override', 'paramOverride'],
  ] as const

  it.each(json)('refuse %s with its name if it is not a JSON object', (field, key) => {
    expect(errorOf({ [key]: '{' })).toEqual({ field, error: 'not-json' })
    expect(errorOf({ [key]: '[]' })).toEqual({ field, error: 'not-object' })
    expect(errorOf({ [key]: 'null' })).toEqual({ field, error: 'not-object' })
    const twice = { field, error: 'duplicate-key', name: 'a' }
    expect(errorOf({ [key]: '{"a":"b","a":"c"}' })).toEqual(twice)
    expect(errorOf({ [key]: nested(17) })).toEqual({ field, error: 'too-deep' })
    expect(errorOf({ [key]: ' \n' })).toBeNull()
  })

  it('accept JSON that is nested 16 levels deep', () => {
    expect(errorOf({ paramOverride: nested(16) })).toBeNull()
  })
})

describe('a parameter override', () => {
  it.each([
    ['{"Stream_Options":{}}', 'Stream_Options'],
    ['{"MAX_TOKENS":5}', 'MAX_TOKENS'],
    ['{"ſtream":true}', 'ſtream'],
    ['{"enableThinking":true,"EnableThinking":false}', 'EnableThinking'],
  ])('%s is refused, because a provider may ignore the letter case', (paramOverride, name) =>
    expect(errorOf({ paramOverride })).toEqual({
      ...{ field: 'param_override', error: 'wrong-case', name },
    }),
  )

  it('may set any parameter in its usual spelling', () => {
    const paramOverride = '{"stream_options":{},"max_tokens":5,"enableThinking":true}'
    expect(errorOf({ paramOverride })).toBeNull()
  })
})

describe('a model mapping', () => {
  it.each([
    ['{"a":1}', 'not-text', 'a'],
    ['{"a":""}', 'not-text', 'a'],
    ['{"a":"b","b":"a"}', 'mapping-circle', 'a'],
    ['{"a":"b","b":"c","c":"b"}', 'mapping-circle', 'a'],
    [chain(9), 'mapping-too-deep', 'm0'],
  ])('%s is refused', (modelMapping, code, name) => {
    expect(errorOf({ modelMapping })).toEqual({ field: 'model_mapping', error: code, name })
  })

  it.each(['{"a":"a"}', '{"a":"b"}', '{"constructor":"__proto__"}', chain(8)])(
    '%s is accepted',
    (modelMapping) => {
      expect(errorOf({ modelMapping })).toBeNull()
    },
  )
})

describe('a status mapping', () => {
  it.each(['{"429":"500"}', '{"400":599}', '{"200":400}', '{}'])('%s is accepted', (text) => {
    expect(errorOf({ statusCodeMapping: text })).toBeNull()
  })

  it.each([
    ['{"429":200}', '429'],
    ['{"429":"399"}', '429'],
    ['{"429":600}', '429'],
    ['{"429":5e2}', '429'],
    ['{"429":null}', '429'],
    ['{"42":500}', '42'],
    ['{"600":500}', '600'],
  ])('%s is refused, because it hides the error or is no status', (statusCodeMapping, name) => {
    const expected = { field: 'status_code_mapping', error: 'not-status', name }
    expect(errorOf({ statusCodeMapping })).toEqual(expected)
  })
})

describe('the extra settings of a channel', () => {
  it('name one proxy or none', () => {
    expect(proxyOf({ ...TERMS, setting: '{"proxy":"http://p:1"}' })).toBe('http://p:1')
    for (const setting of ['', '{}', '{"proxy":1}', '{', '[]']) {
      expect(proxyOf({ ...TERMS, setting })).toBe('')
    }
  })

  it.each([
    ['', null],
    ['{"proxy":""}', null],
    ['{"proxy":null}', null],
    ['{"proxy":" http://p:1 "}', 'http://p:1'],
    ['{"proxy":"socks5://p"}', 'socks5://p'],
    ['{"proxy":1}', ''],
    ['{', ''],
  ])('%s makes calls use the proxy %j', (setting, proxy) =>
    expect(proxyToUse({ setting })).toBe(proxy),
  )

  it.each([
    'socks5://127.0.0.1:1080',
    'ftp://p',
    'p:3128',
    'http://',
    'http://p:1/path',
    'http://p:1?a=b',
    'http://p:1#a',
    'http://p p:1',
    'http://p:99999',
    'http://%zz@p:1',
    7,
    true,
    ['http://p:1'],
  ])('refuse the proxy %j', (proxy) => {
    const setting = JSON.stringify({ proxy })
    expect(errorOf({ setting })).toEqual({ field: 'setting', error: 'not-proxy' })
  })

  it.each([
    'http://p',
    'https://p:3128/',
    'http://user@p:1',
    'http://u%40b:p%3A@[::1]:1',
    '',
    ' ',
    null,
  ])('accept the proxy %j', (proxy) =>
    expect(errorOf({ setting: JSON.stringify({ proxy }) })).toBeNull(),
  )

  const FLAGS = ['include_usage', 'rate_limit_headers']
  it.each(['maybe', 'false', 0, {}, []])('refuse the value %j for a flag', (value) => {
    for (const name of FLAGS) {
      const setting = JSON.stringify({ [name]: value })
      const expected = { field: 'setting', error: 'not-flag', name }
      expect(errorOf({ setting })).toEqual(expected)
    }
  })

  it.each([true, false, null])('accept the value %j for a flag', (value) => {
    for (const name of FLAGS) {
      expect(errorOf({ setting: JSON.stringify({ [name]: value }) })).toBeNull()
    }
  })
})

describe('the models that a channel serves only by responses', () => {
  const listing = (models: unknown, type = 1) =>
    errorOf({ type, setting: JSON.stringify({ responses_models: models }) })

  it.each(['gpt-5-pro', 7, {}, [7], [null], Array(501).fill('a')])(
    'must be a list of names, not %j',
    (models) => {
      const name = 'responses_models'
      expect(listing(models)).toEqual({ field: 'setting', error: 'not-names', name })
    },
  )

  it.each([[[]], [['my-codex', 'gpt-5-pro']], [null]])('may be %j', (models) => {
    expect(listing(models)).toBeNull()
  })

  it.each([8, 14, 24, 41])('are refused for channel type %i, where they have no effect', (type) => {
    const error = { field: 'setting', error: 'no-effect', name: 'responses_models' }
    expect(listing(['my-codex'], type)).toEqual(error)
    expect(listing([], type)).toEqual(error)
    expect(listing(null, type)).toBeNull()
    expect(listing(['my-codex'], 3)).toBeNull()
  })
})

describe('the request members that a channel allows', () => {
  const allowing = (members: unknown, type = 1) =>
    errorOf({ type, setting: JSON.stringify({ allowed_members: members }) })

  it.each(['service_tier', 7, {}, [7], [null]])('must be a list of names, not %j', (members) =>
    expect(allowing(members)).toEqual({
      ...{ field: 'setting', error: 'not-names', name: 'allowed_members' },
    }),
  )

  it.each([
    ['api_key', 8],
    ['max_output_tokens', 8],
    ['temperature', 1],
    ['Service_Tier', 1],
    ['models', 1],
    ['model', 1],
    ['mv', 2],
    ['service_tier', 36],
    ['data_sources', 20],
  ])('cannot include %s for channel type %i', (name, type) =>
    expect(allowing([name], type)).toEqual({ field: 'setting', error: 'not-allowable', name }),
  )

  it.each([
    [['service_tier', 'web_search_options', 'tools'], 1],
    [['botType'], 2],
    [['mv', 'model'], 36],
    [['models', 'route', 'provider', 'plugins'], 20],
    [['data_sources'], 3],
    [['fallbacks', 'models'], 8],
    [[], 1],
    [null, 1],
  ])('can be %j for channel type %i', (members, type) => expect(allowing(members, type)).toBeNull())
})

describe('a channel with an invalid text field', () => {
  it('is refused, and the error names the field and the entry', () => {
    const details = { field: 'model_mapping', error: 'not-text', name: 'a' }
    given()
      .when(createChannel({ modelMapping: '{"a":1}' }))
      .then(codedError('InvalidField', details))
  })
})

describe('rules for particular channel types', () => {
  it('channel type 18 has the version v2.1 if none is given', () => {
    const of = (change: Partial<ChannelTerms>) => {
      const { after } = given().when(createChannel(change))
      return after.channels.get(4)?.terms.other
    }
    expect(of({ type: 18, other: ' ' })).toBe('v2.1')
    expect(of({ type: 18, other: 'v3.5' })).toBe('v3.5')
    expect(of({ type: 1, other: '' })).toBe('')
  })

  it('channel type 41 accepts a name or a JSON object as its region', () => {
    const region = (other: string) => errorOf({ type: 41, other })
    expect(region('us-central1')).toBeNull()
    expect(region('{"default":"us-central1"}')).toBeNull()
    expect(region('{"default":')).toEqual({ field: 'other', error: 'not-json' })
    expect(region('["a"]')).toEqual({ field: 'other', error: 'not-object' })
    expect(region('evil.example/')).toEqual({ field: 'other', error: 'bad-character' })
    const wrong = { field: 'other', error: 'not-text', name: 'm' }
    for (const value of ['7', '""', '"a/b"', '{}']) {
      expect(region(`{"default":"eu","m":${value}}`)).toEqual(wrong)
    }
    expect(errorOf({ type: 1, other: '{' })).toBeNull()
  })

  it('terms that do not fit one event are refused, and the error names the longest field', () => {
    const models = Array.from({ length: 40_000 }, (_, n) => `a-model-${n}`)
    expect(errorOf({ models })).toEqual({ field: 'models', error: 'too-long' })
    const paramOverride = `{"a":"${'漢'.repeat(140_000)}"}`
    expect(errorOf({ paramOverride })).toEqual({ field: 'param_override', error: 'too-long' })
  })

  it('has at most 100 000 pairs of a model and a group, which all processes keep', () => {
    const models = Array.from({ length: 2_000 }, (_, n) => `m${n}`)
    const groups = Array.from({ length: 51 }, (_, n) => `g${n}`)
    expect(errorOf({ models, groups })).toEqual({ field: 'group', error: 'too-many-pairs' })
    expect(errorOf({ models, groups: groups.slice(1) })).toBeNull()
  })
})
