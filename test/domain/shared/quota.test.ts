import { describe, expect, it } from 'vitest'
import { fromWire, isInRange, QUOTA_MAX, toWire } from '#domain/shared/quota.ts'

describe('quota on the wire', () => {
  it('goes there and back exactly, up to 2^53 − 1 either way', () => {
    for (const quota of [0n, 1n, -1n, QUOTA_MAX, -QUOTA_MAX]) {
      expect(isInRange(quota)).toBe(true)
      expect(fromWire(JSON.parse(JSON.stringify(toWire(quota))))).toBe(quota)
    }
  })

  it('never rounds: what does not fit is a bug', () => {
    for (const quota of [QUOTA_MAX + 1n, -QUOTA_MAX - 1n]) {
      expect(isInRange(quota)).toBe(false)
      expect(() => toWire(quota)).toThrow('does not fit')
    }
    for (const wire of [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      expect(() => fromWire(wire)).toThrow('no exact quota')
    }
  })
})
