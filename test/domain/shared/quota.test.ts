import { describe, expect, it } from 'vitest'
import { fromWire, isInRange, QUOTA_MAX, toWire } from '#domain/shared/quota.ts'

describe('quota as a JSON integer', () => {
  it('is converted both ways exactly, up to 2^53 − 1 above and below zero', () => {
    for (const quota of [0n, 1n, -1n, QUOTA_MAX, -QUOTA_MAX]) {
      expect(isInRange(quota)).toBe(true)
      expect(fromWire(JSON.parse(JSON.stringify(toWire(quota))))).toBe(quota)
    }
  })

  it('is never rounded; a value that does not fit throws', () => {
    for (const quota of [QUOTA_MAX + 1n, -QUOTA_MAX - 1n]) {
      expect(isInRange(quota)).toBe(false)
      expect(() => toWire(quota)).toThrow('exceeds the range')
    }
    for (const wire of [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      expect(() => fromWire(wire)).toThrow('not an exact quota')
    }
  })
})
