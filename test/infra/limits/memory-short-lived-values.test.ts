import { describe, expect, it } from 'vitest'
import { createMemoryShortLived } from '#infra/limits/short-lived-values.ts'
import { shortLivedSuite } from './short-lived-suite.ts'

shortLivedSuite('short-lived values in memory', async () => ({
  values: createMemoryShortLived(Date.now),
  close: async () => {},
}))

describe('short-lived values in memory', () => {
  it('are limited in number: a new value replaces the oldest', async () => {
    const values = createMemoryShortLived(() => 0)
    for (let n = 0; n <= 50_000; n += 1) await values.put('state', `${n}`, 'x', 1_000)
    expect(await values.peek('state', '0')).toBeNull()
    expect(await values.peek('state', '1')).toBe('x')
    expect(await values.peek('state', '50000')).toBe('x')
  })
})
