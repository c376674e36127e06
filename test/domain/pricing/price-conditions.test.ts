import { describe, expect, it } from 'vitest'
import { ratioOfCondition } from '#domain/pricing/price-conditions.ts'

describe('the ratio of a condition', () => {
  it.each([
    ['claude-opus-5', 'fast', '2'],
    ['claude-opus-5-20260205', 'fast', '2'],
    ['claude-opus-5-20260205', 'us_inference', '1.1'],
    ['claude-opus-5-5-20260901', 'fast', undefined],
    ['gpt-4o', 'fast', '1.7'],
    ['gpt-4o-2024-08-06', 'fast', '1.7'],
    ['gpt-4o-2024-05-13', 'fast', '1.75'],
    ['gpt-4o-2024', 'fast', undefined],
    ['gpt-4o-202408061', 'fast', undefined],
  ] as const)('of %s for %s is %s, with any form of a date', (model, condition, ratio) => {
    expect(ratioOfCondition(condition, model)).toBe(ratio)
  })
})
