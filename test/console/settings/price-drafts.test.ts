import { describe, expect, it } from 'vitest'
import {
  presetRows,
  withoutPresets,
  withPresets,
} from '#console/features/settings/apply-price-presets.ts'
import { type PriceMaps, readPriceMaps } from '#console/features/settings/price-rows.ts'
import { unsavedPriceEntries } from '#console/features/settings/unsaved-price-entries.ts'

const maps = (): PriceMaps => {
  const read = readPriceMaps(
    new Map([
      ['ModelPrice', '{"fixed":0.04}'],
      ['ModelRatio', '{"same":1.50,"other":2,"mine":3}'],
      ['CompletionRatio', '{"same":4}'],
      ['CacheRatio', '{"same":0.5}'],
      ['MaxOutputTokens', '{"same":4096,"mine":100}'],
    ]),
  )
  if (read === null) throw new Error('no maps')
  return read
}
const LISTS = {
  prompt: { same: '1.5', other: '2.5', fresh: '0.625', fixed: '1' },
  completion: { same: '4', fresh: '8', only: '3' },
  max_output: { same: '4096', other: '8192', fresh: '128000' },
}
const parsed = (texts: ReadonlyMap<string, string>) =>
  Object.fromEntries([...texts].map(([key, text]) => [key, JSON.parse(text)]))

describe('price presets', () => {
  it('are marked as new, changed or same, with the changed ones first', () => {
    expect(presetRows(maps(), LISTS).map(({ name, state }) => [name, state])).toEqual([
      ['other', 'changed'],
      ['fixed', 'new'],
      ['fresh', 'new'],
      ['only', 'new'],
      ['same', 'same'],
    ])
  })

  it('count as changed when only their output limit differs', () => {
    const lists = { prompt: { same: '1.5' }, completion: {}, max_output: { same: '8192' } }
    expect(presetRows(maps(), lists)).toEqual([
      {
        name: 'same',
        current: ['1.50', '4', '4096'],
        preset: ['1.5', '', '8192'],
        state: 'changed',
      },
    ])
    expect(parsed(withPresets(maps(), lists))).toEqual({
      MaxOutputTokens: { same: 8192, mine: 100 },
    })
  })

  it('keep other models and equal numbers in a merge, and replace a fixed price', () => {
    const texts = withPresets(maps(), LISTS)
    expect(parsed(texts)).toEqual({
      ModelPrice: {},
      ModelRatio: { same: 1.5, other: 2.5, mine: 3, fresh: 0.625, fixed: 1 },
      CompletionRatio: { same: 4, fresh: 8, only: 3 },
      MaxOutputTokens: { same: 4096, mine: 100, other: 8192, fresh: 128000 },
    })
    expect(texts.get('ModelRatio')).toContain('1.50')
  })

  it('are removed without a change to other prices', () => {
    expect(parsed(withoutPresets(maps(), LISTS))).toEqual({
      ModelRatio: { mine: 3 },
      CompletionRatio: {},
      MaxOutputTokens: { mine: 100 },
    })
    // The preset has a model ratio but no completion ratio for `mine`, so only the model ratio is
    // removed.
    const own = {
      ...maps(),
      CompletionRatio: new Map(['mine', 'other'].map((name) => [name, '4'])),
    }
    expect(parsed(withoutPresets(own, LISTS))).toMatchObject({ CompletionRatio: { mine: 4 } })
  })

  it('keep the input ratios when they contain none', () => {
    const legacy = { prompt: {}, completion: { other: '3' }, max_output: {} }
    expect(Object.keys(parsed(withPresets(maps(), legacy)))).toEqual(['CompletionRatio'])
  })
})

describe('unsaved price entries', () => {
  it('are the numbers that differ, digit by digit, and the removed ones', () => {
    const changes = [
      { key: 'ModelRatio', before: '{"a":1,"b":2,"c":3}', after: '{"b":2.0,"c":3.10,"d":0}' },
      { key: 'SystemName', before: 'x', after: 'y' },
      { key: 'GroupRatio', before: '{"default":1}', after: '{"default":1,"vip":0.8}' },
    ]
    expect(unsavedPriceEntries(changes)).toEqual([
      { option: 'ModelRatio', name: 'c', value: '3.10' },
      { option: 'ModelRatio', name: 'd', value: '0' },
      { option: 'ModelRatio', name: 'a', value: null },
      { option: 'GroupRatio', name: 'vip', value: '0.8' },
    ])
  })

  it('name both groups of a special ratio, and have no name for a fallback price', () => {
    const changes = [
      { key: 'GroupGroupRatio', before: '{"a":{"b":0.9,"c":1}}', after: '{"a":{"b":0.90,"d":2}}' },
      { key: 'GroupGroupRatio', before: '{}', after: '{"a > b":{"c":1}}' },
      { key: 'fallback_pricing_enabled', before: 'false', after: 'true' },
      { key: 'fallback_single_price', before: '0.5', after: '' },
      { key: 'fallback_input_ratio', before: '', after: '2' },
    ]
    expect(unsavedPriceEntries(changes)).toEqual([
      { option: 'GroupGroupRatio', name: 'a > d', value: '2' },
      { option: 'GroupGroupRatio', name: 'a > c', value: null },
      { option: 'GroupGroupRatio', name: '["a > b","c"]', value: '1' },
      { option: 'fallback_pricing_enabled', name: '', value: 'true' },
      { option: 'fallback_single_price', name: '', value: null },
      { option: 'fallback_input_ratio', name: '', value: '2' },
    ])
  })

  it('are unavailable while a text is not a map of numbers', () => {
    expect(unsavedPriceEntries([{ key: 'ModelRatio', before: '{}', after: '{"a":' }])).toBeNull()
  })
})
