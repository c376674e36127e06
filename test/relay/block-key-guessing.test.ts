import { expect, it } from 'vitest'
import { createMemoryLimits } from '#infra/limits/memory-limits.ts'
import { FailedKeys } from '#relay/limits/block-key-guessing.ts'

it.each([
  ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:db8:1:3::1'],
  ['::ffff:10.0.0.1', '10.0.0.1', '10.0.0.2'],
])(
  'the relay counts wrong keys of %s and %s as one address’s and those of %s separately',
  async (one, same, other) => {
    const limits = createMemoryLimits(() => 1_000_000)
    const keys = new FailedKeys(limits, { keyedHash: (purpose, text) => `${purpose} ${text}` })
    for (let n = 0; n < 60; n += 1) expect(await keys.failed(n % 2 ? one : same, 0)).toBe(0)
    expect(await keys.failed(one, 0)).toBeGreaterThan(0)
    expect(keys.waitSeconds(same, 0)).toBeGreaterThan(0)
    expect([keys.waitSeconds(other, 0), await keys.failed(other, 0)]).toEqual([0, 0])
    expect(keys.waitSeconds(same, 60_001)).toBe(0)
    limits.close()
  },
)
