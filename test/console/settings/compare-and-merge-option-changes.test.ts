import { describe, expect, it } from 'vitest'
import {
  changedLines,
  changedOptions,
} from '#console/features/settings/compare-and-merge-option-changes.ts'
import {
  fallbackErrorField,
  validateFallback,
  withFallback,
} from '#console/features/settings/fallback-price-draft.ts'

describe('the changes of a save', () => {
  it('contain only the options whose value differs', () => {
    const baseline = new Map([
      ['ModelRatio', '{"a":1}'],
      ['RetryTimes', '0'],
      ['SystemName', 'Tally'],
    ])
    const drafts = new Map([
      ['ModelRatio', '{\n  "a": 1\n}'],
      ['RetryTimes', '2'],
      ['SystemName', 'Tally '],
    ])
    expect(changedOptions(baseline, drafts)).toEqual([
      { key: 'RetryTimes', before: '0', after: '2' },
      { key: 'SystemName', before: 'Tally', after: 'Tally ' },
    ])
  })

  it('include a difference in a late decimal digit', () => {
    const baseline = new Map([['ModelRatio', '{"a":0.1}']])
    const drafts = new Map([['ModelRatio', '{"a":0.1000000000000000055}']])
    expect(changedOptions(baseline, drafts)).toHaveLength(1)
  })

  it('show the lines that differ, and ignore commas', () => {
    expect(changedLines('{\n  "a": 1\n}', '{\n  "a": 1,\n  "b": 2\n}')).toEqual({
      removed: [],
      added: ['  "b": 2'],
    })
  })
})

describe('the fallback price', () => {
  const off = {
    fallback_pricing_enabled: 'false',
    fallback_single_price: '',
    fallback_input_ratio: '',
    fallback_completion_ratio: '',
  }
  const on = { ...off, fallback_pricing_enabled: 'true' }

  it('loses its price when a ratio is set, and its ratios when a price is set', () => {
    const ratios = { ...on, fallback_input_ratio: '1', fallback_completion_ratio: '4' }
    const single = withFallback(ratios, 'fallback_single_price', '0.1')
    expect([single.fallback_input_ratio, single.fallback_completion_ratio]).toEqual(['', ''])
    expect(withFallback(single, 'fallback_input_ratio', '2').fallback_single_price).toBe('')
  })

  it('shows its error at the missing or wrong ratio, or else at the price', () => {
    const fieldOf = (patch: object) => fallbackErrorField({ ...on, ...patch })
    expect(fieldOf({ fallback_input_ratio: '1' })).toBe('fallback_completion_ratio')
    expect(fieldOf({ fallback_completion_ratio: '1' })).toBe('fallback_input_ratio')
    expect(fieldOf({ fallback_input_ratio: '1', fallback_completion_ratio: 'x' })).toBe(
      'fallback_completion_ratio',
    )
    expect(fieldOf({})).toBe('fallback_single_price')
    expect(fieldOf({ fallback_single_price: '1' })).toBeUndefined()
  })

  it('is either a single price or both ratios', () => {
    expect(validateFallback(off)).toBeNull()
    expect(validateFallback(on)).toBe('incomplete')
    expect(validateFallback({ ...on, fallback_single_price: '0' })).toBeNull()
    expect(validateFallback({ ...on, fallback_input_ratio: '1' })).toBe('incomplete')
    expect(validateFallback({ ...on, fallback_input_ratio: '1', fallback_single_price: '1' })).toBe(
      'mixed',
    )
    expect(validateFallback({ ...off, fallback_single_price: '-1' })).toBe('negative')
    expect(validateFallback({ ...off, fallback_single_price: 'x' })).toBe('notNumber')
  })
})
