import { describe, expect, it } from 'vitest'
import {
  fallbackErrorField,
  validateFallback,
  withFallback,
} from '#console/features/settings/fallback-pricing.ts'
import { changedLines, changedOptions } from '#console/features/settings/option-changes.ts'

describe('what a save sends', () => {
  it('only the options that say something else', () => {
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

  it('a digit far behind the point is a change', () => {
    const baseline = new Map([['ModelRatio', '{"a":0.1}']])
    const drafts = new Map([['ModelRatio', '{"a":0.1000000000000000055}']])
    expect(changedOptions(baseline, drafts)).toHaveLength(1)
  })

  it('shows the lines that differ, not the commas', () => {
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

  it('a value on one side clears the other', () => {
    const ratios = { ...on, fallback_input_ratio: '1', fallback_completion_ratio: '4' }
    const single = withFallback(ratios, 'fallback_single_price', '0.1')
    expect([single.fallback_input_ratio, single.fallback_completion_ratio]).toEqual(['', ''])
    expect(withFallback(single, 'fallback_input_ratio', '2').fallback_single_price).toBe('')
  })

  it('is told at the ratio that is missing or wrong, or else at the price', () => {
    const fieldOf = (patch: object) => fallbackErrorField({ ...on, ...patch })
    expect(fieldOf({ fallback_input_ratio: '1' })).toBe('fallback_completion_ratio')
    expect(fieldOf({ fallback_completion_ratio: '1' })).toBe('fallback_input_ratio')
    expect(fieldOf({ fallback_input_ratio: '1', fallback_completion_ratio: 'x' })).toBe(
      'fallback_completion_ratio',
    )
    expect(fieldOf({})).toBe('fallback_single_price')
    expect(fieldOf({ fallback_single_price: '1' })).toBeUndefined()
  })

  it('is a single price or both ratios, never mixed', () => {
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
