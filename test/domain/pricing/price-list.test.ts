import { describe, expect, it } from 'vitest'
import { DEFAULT_CONTEXT_TIERS } from '#domain/pricing/built-in-prices.ts'
import { chargeFor } from '#domain/pricing/charge.ts'
import { createDraftPricer } from '#domain/pricing/charge-at-draft-prices.ts'
import { contextTiersText, readContextTiers } from '#domain/pricing/context-tiers.ts'
import { DEFAULT_GROUP_RATIOS, DEFAULT_RATIOS } from '#domain/pricing/default-ratios.ts'
import { priceOf, readPriceList, withTools } from '#domain/pricing/price-list.ts'
import { NO_USAGE } from '#domain/pricing/usage.ts'
import { codedError } from '#domain/shared/coded-error.ts'

const listOf = (options: Record<string, string>) =>
  readPriceList(new Map(Object.entries(options)), 12)
const price = (
  options: Record<string, string>,
  asked: { model?: string; group?: string; userGroup?: string; acceptsUnpriced?: boolean } = {},
) => {
  const { model = 'm', group = 'default', userGroup = group, acceptsUnpriced = false } = asked
  return priceOf(listOf(options), model, group, { userGroup, acceptsUnpriced })
}

const FALLBACK = {
  fallback_pricing_enabled: 'true',
  fallback_input_ratio: '5',
  fallback_completion_ratio: '3',
}

describe('the order in which prices apply', () => {
  it('the admin’s price per call overrides the admin’s ratio', () => {
    const options = { ModelPrice: '{"m":0.04}', ModelRatio: '{"m":1}' }
    expect(price(options)).toEqual({ mode: 'call', price: '0.04', list: 12, group: '1' })
  })

  it('the admin’s ratio overrides all built-in prices, even a price per call', () => {
    const options = { ModelRatio: '{"gpt-4o":9,"dall-e-3":2}' }
    expect(price(options, { model: 'gpt-4o' })).toMatchObject({ mode: 'tokens', model: '9' })
    expect(price(options, { model: 'dall-e-3' })).toMatchObject({ mode: 'tokens', model: '2' })
  })

  it('a built-in price overrides the fallback', () => {
    const built = { mode: 'tokens', model: '1.25', completion: '4', cacheRead: '0.5' }
    expect(price(FALLBACK, { model: 'gpt-4o' })).toMatchObject(built)
    expect(price(FALLBACK, { model: 'dall-e-3' })).toMatchObject({ mode: 'call', price: '0.04' })
  })

  it('the fallback overrides the price for users who accept unpriced models', () => {
    const fallback = { mode: 'tokens', model: '5', completion: '3' }
    expect(price(FALLBACK)).toMatchObject(fallback)
    expect(price(FALLBACK, { acceptsUnpriced: true })).toMatchObject(fallback)
  })

  it('ratio 37.5 applies last, to users who accept unpriced models; it is never free', () => {
    const accepted = price({}, { acceptsUnpriced: true })
    expect(accepted).toMatchObject({ mode: 'tokens', model: '37.5', completion: '1' })
    if ('code' in accepted) throw new Error(accepted.code)
    expect(chargeFor(accepted, { ...NO_USAGE, inputUncached: 1 })).toBe(38n)
  })

  it('ratio 37.5 applies to every user of a site in self-use mode', () => {
    const own = { SelfUseModeEnabled: 'true' }
    expect(price(own)).toEqual(price({}, { acceptsUnpriced: true }))
    expect(price({ ...own, ...FALLBACK })).toEqual(price(FALLBACK))
    expect(price({ SelfUseModeEnabled: 'false' })).toEqual(codedError('ModelUnpriced'))
  })

  it('a model without any price is refused', () => {
    expect(price({})).toEqual(codedError('ModelUnpriced'))
  })

  it('an explicit 0 is a price, so the model is free', () => {
    expect(price({ ModelRatio: '{"m":0}' })).toMatchObject({ mode: 'tokens', model: '0' })
    expect(price({ ModelPrice: '{"gpt-4o":0}' }, { model: 'gpt-4o' })).toMatchObject({
      mode: 'call',
      price: '0',
    })
  })

  it('each single ratio is the admin’s if set, else the built-in one, else 1', () => {
    const options = { ModelRatio: '{"gpt-4o":1}', CompletionRatio: '{"gpt-4o":7}' }
    const claude = 'claude-sonnet-4-5'
    expect(price(options, { model: 'gpt-4o' })).toMatchObject({
      completion: '7',
      cacheRead: '0.5',
      cacheWrite: '1',
      image: '1',
      audio: '1',
      audioCompletion: '1',
    })
    expect(price(options, { model: 'gpt-4o' })).not.toHaveProperty('imageCompletion')
    const images = { ...options, ImageCompletionRatio: '{"gpt-4o":9}' }
    expect(price(images, { model: 'gpt-4o' })).toMatchObject({ imageCompletion: '9' })
    expect(price({ CreateCacheRatio: `{"${claude}":2}` }, { model: claude })).toMatchObject({
      cacheRead: '0.1',
      cacheWrite: '2',
    })
  })
})

describe('the fallback price', () => {
  it('is one price per call, or both ratios', () => {
    const single = { fallback_pricing_enabled: 'true', fallback_single_price: '0.5' }
    expect(price(single)).toMatchObject({ mode: 'call', price: '0.5' })
    expect(price({ ...FALLBACK, ...single })).toMatchObject({ mode: 'call', price: '0.5' })
  })

  it.each([
    { ...FALLBACK, fallback_pricing_enabled: 'false' },
    { fallback_pricing_enabled: 'true' },
    { fallback_pricing_enabled: 'true', fallback_input_ratio: '5' },
    { fallback_pricing_enabled: 'true', fallback_completion_ratio: '5' },
    { ...FALLBACK, fallback_input_ratio: '' },
    { ...FALLBACK, fallback_input_ratio: 'NaN' },
    { ...FALLBACK, fallback_completion_ratio: '-1' },
  ])('does not apply with the options %j', (options) => {
    expect(price(options)).toEqual(codedError('ModelUnpriced'))
  })
})

describe('names of built-in object properties', () => {
  const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', 'prototype']

  it.each(names)('%s has neither a price nor a group ratio by default', (name) => {
    expect(price({}, { model: name })).toEqual(codedError('ModelUnpriced'))
    expect(price(FALLBACK, { group: name })).toEqual(codedError('GroupUnknown'))
    const options = { ...FALLBACK, GroupRatio: '{"default":1}' }
    expect(price(options, { group: name })).toEqual(codedError('GroupUnknown'))
  })

  it.each(names)('%s has the price that an admin sets', (name) => {
    const options = { ModelRatio: `{"${name}":2}`, GroupRatio: `{"${name}":0.5}` }
    const found = price(options, { model: name, group: name })
    expect(found).toMatchObject({ mode: 'tokens', model: '2', completion: '1', group: '0.5' })
  })
})

describe('group ratios', () => {
  it('replace all built-in ratios when they are set', () => {
    const options = { ModelRatio: '{"m":1}', GroupRatio: '{"team":0.5}' }
    expect(price(options, { group: 'team' })).toMatchObject({ group: '0.5' })
    expect(price(options)).toEqual(codedError('GroupUnknown'))
  })

  it('define no group if they are unreadable, so calls are refused', () => {
    for (const GroupRatio of [
      '{',
      '[]',
      '{"default":"x"}',
      '{"default":1e999}',
      '{"default":-1}',
    ]) {
      expect(price({ ...FALLBACK, GroupRatio })).toEqual(codedError('GroupUnknown'))
    }
  })
})

describe('special ratios of a user’s group', () => {
  const options = {
    ModelRatio: '{"m":1}',
    GroupRatio: '{"default":1,"vip":2,"team":3}',
    GroupGroupRatio: '{"vip":{"default":0.9,"vip":1.5,"gone":0.1},"constructor":{"default":0}}',
  }

  it('apply to calls with a token of the other group; the price records the user’s group', () => {
    const special = price(options, { userGroup: 'vip' })
    expect(special).toMatchObject({ group: '0.9', userGroup: 'vip' })
    expect(price(options, { group: 'vip' })).toMatchObject({ group: '1.5' })
  })

  it('do not affect other users, who get the group’s normal ratio', () => {
    expect(price(options)).toMatchObject({ group: '1' })
    expect(price(options)).not.toHaveProperty('userGroup')
    const elsewhere = price(options, { group: 'team', userGroup: 'vip' })
    expect(elsewhere).toMatchObject({ group: '3', userGroup: 'vip' })
  })

  it('do not create a group that does not exist', () => {
    expect(price(options, { group: 'gone', userGroup: 'vip' })).toEqual(codedError('GroupUnknown'))
  })

  it('are ignored if they are unreadable', () => {
    for (const GroupGroupRatio of ['{', '[]', '{"vip":1}', '{"vip":{"default":-1}}']) {
      const found = price({ ...options, GroupGroupRatio }, { userGroup: 'vip' })
      expect(found).toMatchObject({ group: '1' })
    }
  })
})

describe('stored ratios', () => {
  it('are exact plain decimals, in whatever notation they were entered', () => {
    const kept = (text: string) => price({ ModelRatio: `{"m":${text}}` })
    expect(kept('0.1000')).toMatchObject({ model: '0.1' })
    expect(kept('1e-3')).toMatchObject({ model: '0.001' })
    expect(kept('"2.50"')).toMatchObject({ model: '2.5' })
    expect(kept('0.123456789012345678')).toMatchObject({ model: '0.123456789012345678' })
  })

  it.each(['-1', '1e999', 'null', 'true', '"NaN"', '"Infinity"', '[]', '{}', '""'])(
    '%s is not a ratio, so the model has no price',
    (text) => {
      expect(price({ ModelRatio: `{"m":${text}}` })).toEqual(codedError('ModelUnpriced'))
    },
  )

  it('that are built in are plain decimals and give a price', () => {
    for (const [key, ratios] of [
      ...DEFAULT_RATIOS,
      ['GroupRatio', DEFAULT_GROUP_RATIOS] as const,
    ]) {
      for (const [name, ratio] of ratios) {
        expect(ratio, `${key} ${name}`).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/)
      }
    }
    for (const model of DEFAULT_RATIOS.get('ModelRatio')?.keys() ?? []) {
      expect(price({}, { model }), model).toMatchObject({ mode: 'tokens' })
    }
  })
})

describe('context tiers', () => {
  const BUILT_IN = DEFAULT_CONTEXT_TIERS.get('gemini-2.5-pro')

  it('are part of the price of a model, and missing from other prices', () => {
    const text = '{"m":[{"above_input_tokens":5,"input_ratio":2.50}]}'
    const options = { ModelRatio: '{"m":1,"n":1}', ContextTierRatio: text }
    const tiers = [{ above: 5, input: '2.5', output: '1' }]
    expect(price(options)).toMatchObject({ mode: 'tokens', tiers })
    expect(price(options, { model: 'n' })).not.toHaveProperty('tiers')
    expect(price({ ...options, ModelPrice: '{"m":1}' })).not.toHaveProperty('tiers')
  })

  it('that are built in apply to an admin’s ratio, unless the admin sets the model’s tiers', () => {
    const model = 'gemini-2.5-pro'
    const ratio = { ModelRatio: `{"${model}":0.3}` }
    expect(price(ratio, { model })).toMatchObject({ model: '0.3', tiers: BUILT_IN })
    const none = { ...ratio, ContextTierRatio: `{"${model}":[]}` }
    expect(price(none, { model })).not.toHaveProperty('tiers')
  })

  it('that are built in are valid, and survive as the text of their option', () => {
    const text = contextTiersText(DEFAULT_CONTEXT_TIERS)
    expect(readContextTiers(text)).toEqual(DEFAULT_CONTEXT_TIERS)
  })
})

describe('the prices of tools', () => {
  const toolsOf = (model: string, options = {}) => {
    const list = listOf({ ModelRatio: `{"${model}":1}`, ...options })
    const customer = { userGroup: 'default', acceptsUnpriced: false }
    const own = priceOf(list, model, 'default', customer)
    if ('code' in own) throw new Error(own.code)
    return withTools(list, own, model, { web_search_preview: 1, file_search: 1 }).tools
  }

  it('depend on the model, and only those of the used tools are in the price', () => {
    expect(toolsOf('gpt-4o-mini')).toEqual({ web_search_preview: '25', file_search: '2.5' })
    expect(toolsOf('gpt-5')).toEqual({ web_search_preview: '10', file_search: '2.5' })
  })

  it('are the admin’s before the built-in ones, for the most specific name', () => {
    const ToolPrice = JSON.stringify({
      ...{ web_search_preview: 1, 'web_search_preview:gpt*': 2 },
      ...{ 'web_search_preview:gpt-4o*': 3, 'web_search_preview:gpt-4o-x': 4 },
    })
    const searchOf = (model: string) => toolsOf(model, { ToolPrice })?.web_search_preview
    expect(['o3', 'gpt-5', 'gpt-4o', 'gpt-4o-x'].map(searchOf)).toEqual(['1', '2', '3', '4'])
    expect(toolsOf('o3', { ToolPrice })?.file_search).toBe('2.5')
  })

  it('apply to past calls in a preview of other prices', () => {
    const tools = { web_search: 3 }
    const usage = { ...NO_USAGE, toolCalls: 3, tools, inputUncached: 10 }
    const call = { model: 'm', group: 'default', userGroup: 'default', usage }
    const options = { ModelRatio: '{"m":1}', ToolPrice: '{"web_search":20}' }
    expect(createDraftPricer(listOf(options))(call, false)).toBe(30_010n)
  })

  it('leave a price unchanged without tools, and are cached with the price otherwise', () => {
    const list = listOf({ ModelRatio: '{"m":1}' })
    const own = priceOf(list, 'm', 'default', { userGroup: 'default', acceptsUnpriced: false })
    if ('code' in own) throw new Error(own.code)
    expect(withTools(list, own, 'm', undefined)).toBe(own)
    expect(withTools(list, own, 'm', {})).toBe(own)
    const searching = withTools(list, own, 'm', { web_search: 1 })
    expect(withTools(list, own, 'm', { web_search: 9 })).toBe(searching)
    expect(Object.isFrozen(searching)).toBe(true)
  })
})

describe('the cache of prices', () => {
  const options = { ModelRatio: '{"m":1}', GroupRatio: '{"default":1,"vip":0.5}' }
  const list = listOf({ ...options, GroupGroupRatio: '{"vip":{"default":0.8}}' })
  const priceFor = (model: string, group: string, userGroup: string, acceptsUnpriced = false) =>
    priceOf(list, model, group, { userGroup, acceptsUnpriced })

  it('returns one object for the same customer, and that object is frozen', () => {
    const first = priceFor('m', 'default', 'default')
    expect(priceFor('m', 'default', 'default')).toBe(first)
    expect(Object.isFrozen(first)).toBe(true)
  })

  it('distinguishes groups, the groups of users, and users who accept unpriced models', () => {
    expect(priceFor('m', 'default', 'vip')).toMatchObject({ group: '0.8', userGroup: 'vip' })
    expect(priceFor('m', 'default', 'default')).toMatchObject({ group: '1' })
    expect(priceFor('m', 'vip', 'vip')).toMatchObject({ group: '0.5' })
    expect(priceFor('none', 'vip', 'vip', true)).toMatchObject({ model: '37.5' })
    expect(priceFor('none', 'vip', 'vip')).toEqual(codedError('ModelUnpriced'))
  })

  it('stays correct when callers name more models than it holds', () => {
    for (let n = 0; n < 10_000; n += 1) priceFor(`made-up-${n}`, 'default', 'default', true)
    expect(priceFor('m', 'default', 'vip')).toMatchObject({ model: '1', group: '0.8' })
  })

  it('belongs to one list, so that a changed price applies to the next call', () => {
    const changed = listOf({ ModelRatio: '{"m":2}' })
    const customer = { userGroup: 'default', acceptsUnpriced: false }
    expect(priceOf(changed, 'm', 'default', customer)).toMatchObject({ model: '2' })
  })
})
