import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ShortLived } from '#infra/limits/short-lived-values.ts'

export type ShortLivedUnderTest = {
  readonly values: ShortLived
  readonly close: () => Promise<void>
}

const MINUTE_MS = 60_000

/** Defines the tests that every implementation of `ShortLived` must pass. */
export function shortLivedSuite(name: string, open: () => Promise<ShortLivedUnderTest>): void {
  describe(name, () => {
    let under: ShortLivedUnderTest
    beforeAll(async () => {
      under = await open()
    })
    afterAll(() => under.close())

    it('a value is delivered once when fifty requests take it at once', async () => {
      const { values } = under
      const key = randomUUID()
      await values.put('state', key, '{"intent":"登录"}', MINUTE_MS)
      const taken = await Promise.all(Array.from({ length: 50 }, () => values.take('state', key)))
      expect(taken.filter((value) => value !== null)).toEqual(['{"intent":"登录"}'])
      expect(await values.peek('state', key)).toBeNull()
    })

    it('a value is found only by its kind and key, and a peek does not remove it', async () => {
      const { values } = under
      const key = randomUUID()
      await values.put('code', key, '123456', MINUTE_MS)
      expect(await values.peek('state', key)).toBeNull()
      expect(await values.take('code', `${key}x`)).toBeNull()
      expect(await values.peek('code', key)).toBe('123456')
      expect(await values.take('code', key)).toBe('123456')
    })

    it('a value expires after its time', async () => {
      const { values } = under
      const key = randomUUID()
      await values.put('code', key, '123456', 40)
      await expect.poll(() => values.peek('code', key), { interval: 5 }).toBeNull()
      expect(await values.take('code', key)).toBeNull()
      expect(await values.countTry('code', key, 5)).toBeNull()
    })

    it('a value becomes void after the allowed tries, even if they come at once', async () => {
      const { values } = under
      const key = randomUUID()
      await values.put('code', key, '123456', MINUTE_MS)
      const left = await Promise.all(
        Array.from({ length: 50 }, () => values.countTry('code', key, 5)),
      )
      const counted = left.filter((tries) => tries !== null)
      expect(counted.toSorted()).toEqual([0, 1, 2, 3, 4])
      expect(await values.take('code', key)).toBeNull()
    })

    it('a new value has a new count of tries, and replaces the old value', async () => {
      const { values } = under
      const key = randomUUID()
      await values.put('code', key, 'old', MINUTE_MS)
      expect(await values.countTry('code', key, 2)).toBe(1)
      await values.put('code', key, 'new', MINUTE_MS)
      expect(await values.countTry('code', key, 2)).toBe(1)
      expect(await values.countTry('code', key, 2)).toBe(0)
      // The value must still exist after the last allowed try, which may be correct.
      expect(await values.take('code', key)).toBe('new')
    })
  })
}
