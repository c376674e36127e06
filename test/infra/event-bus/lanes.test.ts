import { describe, expect, it } from 'vitest'
import { LANE_COUNT, laneKeyOf, laneOf } from '#infra/event-bus/lanes.ts'

describe('the lane of a stream', () => {
  it('is that of its id, whatever is kept under it', () => {
    expect(laneKeyOf('account-7')).toBe('7')
    expect(laneOf('account-7')).toBe(laneOf('user-7'))
    expect(laneOf('options')).toBe(laneOf('options'))
  })

  it('never changes: offsets are kept by it', () => {
    const lanes = ['account-1', 'account-2', 'account-3', 'account-1000', 'options', 'site']
    expect(lanes.map(laneOf)).toEqual([5, 4, 3, 3, 5, 5])
  })

  it('spreads accounts evenly', () => {
    const counts = new Array<number>(LANE_COUNT).fill(0)
    for (let id = 1; id <= 8_000; id += 1) {
      const lane = laneOf(`account-${id}`)
      counts[lane] = (counts[lane] ?? 0) + 1
    }
    expect(Math.min(...counts)).toBeGreaterThan(850)
    expect(Math.max(...counts)).toBeLessThan(1_150)
  })
})
