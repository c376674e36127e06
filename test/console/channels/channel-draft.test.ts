import { describe, expect, it } from 'vitest'
import {
  type ChannelDraft,
  changeType,
  draftOfChannel,
  newChannel,
  parseNames,
} from '#console/features/channels/form/channel-draft.ts'
import {
  createChannelBody,
  updateChannelBody,
} from '#console/features/channels/form/channel-request-body.ts'
import { validateChannel } from '#console/features/channels/form/channel-validation.ts'
import { endsWithV1, upstreamUrl } from '#console/features/channels/form/upstream-url.ts'
import { dateFieldText, secondsOfDateField } from '#console/ui/forms/date-field-text.ts'
import { channel, TYPES } from '../support/channel-routes.ts'

const typeOf = (id: number) => TYPES.find((type) => type.id === id)
const OPENAI = typeOf(1)
const draft: ChannelDraft = {
  ...newChannel(OPENAI),
  name: 'main',
  key: 'sk-up',
  models: ['gpt-4o'],
}

describe('the channel form', () => {
  it('starts with the defaults: type 1, auto-ban, group default, priority and weight 0', () => {
    expect(validateChannel(draft, null, OPENAI)).toEqual({})
    expect(createChannelBody({ ...draft, baseUrl: 'https://a.example/x//' })).toMatchObject({
      type: 1,
      auto_ban: 1,
      group: 'default',
      priority: 0,
      weight: 0,
      expired_time: -1,
      base_url: 'https://a.example/x',
      mode: 'single',
      cost_ratio: null,
    })
    expect(createChannelBody({ ...draft, costRatio: ' 0.60 ' }).cost_ratio).toBe(0.6)
  })

  it('reports each invalid value at its field', () => {
    const wrong: ChannelDraft = {
      ...newChannel(OPENAI),
      baseUrl: 'ftp://x',
      groups: [],
      modelMapping: '{a',
      paramOverride: '[]',
      priority: '1.5',
      weight: '-1',
      maxRpm: 'x',
      costRatio: '-0.6',
      expiresAt: '2030-02-30T10:00',
    }
    expect(validateChannel(wrong, null, OPENAI)).toEqual({
      name: 'nameAndKeyMissing',
      key: 'nameAndKeyMissing',
      baseUrl: 'baseUrlInvalid',
      models: 'modelsMissing',
      groups: 'groupsMissing',
      modelMapping: 'notJson',
      paramOverride: 'notObject',
      priority: 'notInteger',
      weight: 'notNatural',
      maxRpm: 'notNatural',
      costRatio: 'notCostRatio',
      expiresAt: 'dateInvalid',
    })
  })

  it.each(['', '0', '0.000001', '1000'])('accepts the cost ratio %j', (costRatio) => {
    expect(validateChannel({ ...draft, costRatio }, null, OPENAI)).toEqual({})
  })

  it.each(['1000.1', '0.0000001', '1,5', '60%', '.5'])('refuses the cost ratio %j', (costRatio) => {
    const faults = { costRatio: 'notCostRatio' }
    expect(validateChannel({ ...draft, costRatio }, null, OPENAI)).toEqual(faults)
  })

  it('requires the key again for a new address, type or proxy, not for a slash at the end', () => {
    const before = { ...draft, key: '' }
    const faultsOf = (patch: Partial<ChannelDraft>) =>
      validateChannel({ ...before, ...patch }, before, OPENAI)
    expect(faultsOf({})).toEqual({})
    expect(faultsOf({ baseUrl: 'https://elsewhere.example' })).toEqual({ key: 'keyMissing' })
    expect(faultsOf({ type: 8 })).toEqual({ key: 'keyMissing' })
    expect(faultsOf({ setting: '{"proxy":"http://p.example"}' })).toEqual({ key: 'keyMissing' })
    expect(faultsOf({ setting: '{"include_usage":false}' })).toEqual({})
    expect(faultsOf({ baseUrl: `${before.baseUrl}/` })).toEqual({})
  })

  it.each([
    ['socks5://p:1', 'proxyInvalid'],
    ['p:3128', 'proxyInvalid'],
    ['http://p:1/x', 'proxyInvalid'],
    [7, 'proxyInvalid'],
    ['http://u:***@p:1', undefined],
    ['', undefined],
    [null, undefined],
  ])('the proxy %j has the error %j (undefined if valid)', (proxy, fault) => {
    const setting = JSON.stringify({ proxy })
    expect(validateChannel({ ...draft, setting }, null, OPENAI).setting).toBe(fault)
  })

  it.each([
    ['modelMapping', { a: 7 }, 'mappingInvalid'],
    ['modelMapping', { a: '' }, 'mappingInvalid'],
    ['modelMapping', { a: 'b', b: 'c', c: 'a' }, 'mappingCircle'],
    ['modelMapping', { a: 'b', b: 'c', c: 'c' }, undefined],
    ['statusCodeMapping', { 400: 200 }, 'statusInvalid'],
    ['statusCodeMapping', { x: '500' }, 'statusInvalid'],
    ['statusCodeMapping', { 400: '500', 429: 503 }, undefined],
    ['setting', { include_usage: 'maybe' }, 'includeUsageInvalid'],
    ['setting', { include_usage: false }, undefined],
    ['setting', { allowed_members: 'service_tier' }, 'allowedMembersInvalid'],
    ['setting', { allowed_members: [7] }, 'allowedMembersInvalid'],
    ['setting', { allowed_members: ['service_tier'] }, undefined],
  ])('the field %s with %j has the error %j (undefined if valid)', (field, value, fault) => {
    const faults = validateChannel({ ...draft, [field]: JSON.stringify(value) }, null, OPENAI)
    expect(faults[field as 'setting']).toBe(fault)
  })

  it('the address may be empty if the type has one, or be a name that the type defines', () => {
    const at = (baseUrl: string, type = OPENAI) =>
      validateChannel({ ...draft, baseUrl }, null, type).baseUrl
    const named = { keyword: 'plan', name: { zh: '', en: '' }, base_url: 'https://p.example' }
    expect(at('')).toBeUndefined()
    expect(at('', typeOf(8))).toBe('baseUrlMissing')
    expect(at('plan')).toBe('baseUrlInvalid')
    expect(at('plan', { ...(OPENAI ?? TYPES[0]), bases: [named] } as typeof OPENAI)).toBeUndefined()
  })

  it('recognizes an address that ends in /v1', () => {
    expect(endsWithV1('https://api.example/v1/')).toBe(true)
    expect(endsWithV1('https://api.example/v10')).toBe(false)
  })

  it('shows the URL that calls go to, without a second /v1', () => {
    const to = (url: string, id = 1) => upstreamUrl(typeOf(id), url)
    expect(to('https://a.example/')).toBe('https://a.example/v1/chat/completions')
    expect(to('https://a.example/v1', 8)).toBe('https://a.example/v1/chat/completions')
    expect(to('')).toBe('https://api.openai.com/v1/chat/completions')
    expect(to('', 8)).toBe('')
    const ofAzure = upstreamUrl(typeOf(3), 'https://a.example', 'v1')
    expect(ofAzure).toBe('https://a.example/openai/deployments/…/chat/completions?api-version=v1')
  })

  it('a new type fills in its address unless the user typed another one', () => {
    const deepSeek = typeOf(43) ?? TYPES[0]
    if (deepSeek === undefined) throw new Error('no type')
    expect(changeType(draft, OPENAI, deepSeek).baseUrl).toBe('https://api.deepseek.com')
    expect(changeType({ ...draft, baseUrl: 'http://own' }, OPENAI, deepSeek).baseUrl).toBe(
      'http://own',
    )
  })

  it('names are separated by commas or lines, and duplicates are dropped', () => {
    expect(parseNames(' a, b\na,,c ')).toEqual(['a', 'b', 'c'])
  })

  it('an expiry stays the same in its field, and an empty field means no expiry', () => {
    const at = 1_900_000_020
    expect(secondsOfDateField(dateFieldText(at))).toBe(at)
    expect(secondsOfDateField(dateFieldText(-1), -1)).toBe(-1)
    expect(secondsOfDateField('2030-13-01T00:00')).toBeNull()
  })

  it('an expiry in the past is refused unless the channel had it before', () => {
    const past = { ...draft, expiresAt: '2020-01-01T00:00' }
    expect(validateChannel(past, null, OPENAI)).toEqual({ expiresAt: 'expiryPast' })
    expect(validateChannel(past, draft, OPENAI)).toEqual({ expiresAt: 'expiryPast' })
    expect(validateChannel({ ...past, weight: '2' }, past, OPENAI)).toEqual({})
  })
})

describe('keys of a channel', () => {
  const single = channel({})
  const several = channel({ multi_key_mode: 'polling', key_count: 2 })
  const edit = (of: typeof single, patch: Partial<ChannelDraft>) => {
    const before = draftOfChannel(of)
    return updateChannelBody(of, before, { ...before, ...patch })
  }

  it('an edit sends only what changed, and never an empty key', () => {
    expect(edit(single, { weight: '7' })).toEqual({ weight: 7 })
    expect(edit(single, { key: ' sk-new ' })).toEqual({ key: 'sk-new' })
    expect(edit(single, {})).toEqual({})
  })

  it('one key per line creates a channel each, or one channel with all keys', () => {
    const lines = { ...draft, key: ' sk-1\n\n sk-2 \r\n' }
    expect(createChannelBody({ ...lines, keyMode: 'batch' })).toMatchObject({
      mode: 'batch',
      key: 'sk-1\nsk-2',
    })
    const one = createChannelBody({ ...lines, keyMode: 'multi_to_single', multiKeyMode: 'polling' })
    expect(one).toMatchObject({ mode: 'multi_to_single', multi_key_mode: 'polling' })
  })

  it('new keys are added to the stored ones, but replace them if the address changes', () => {
    expect(edit(several, { key: 'sk-3' })).toEqual({
      key: 'sk-3',
      key_mode: 'append',
    })
    expect(
      edit(several, { key: 'sk-3', keyMode: 'append', baseUrl: 'https://b.example' }),
    ).toMatchObject({ key: 'sk-3', key_mode: 'replace' })
  })

  it('keys that were set aside are enabled again by their position', () => {
    expect(edit(several, { keyIndexesToEnable: [3], multiKeyMode: 'random' })).toEqual({
      enable_keys: [3],
      multi_key_mode: 'random',
    })
  })
})
