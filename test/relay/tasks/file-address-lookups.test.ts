import { describe, expect, it } from 'vitest'
import type { Claim, Limits } from '#infra/limits/port.ts'
import {
  FILE_LOOKUPS_MAX,
  FileAddressLookups,
} from '#relay/tasks/look-up-expired-file-addresses.ts'
import { FAILED, GONE } from '#relay/tasks/open-provider-file.ts'

const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000]

/** Limits that count the claims of rates and never forget them. */
function countingLimits(): Limits {
  const counts = new Map<string, number>()
  const enter = (_owner: string, [claim]: readonly Claim[]) => {
    if (claim?.kind !== 'rate') throw new Error('a rate was expected')
    const count = (counts.get(claim.key) ?? 0) + 1
    counts.set(claim.key, count)
    return count > claim.max ? { full: 0, waitMs: 7_000 } : { release: () => {} }
  }
  return { enter, isDegraded: () => false }
}

function started() {
  const clock = { now: 0 }
  const lookups = new FileAddressLookups({ limits: countingLimits(), now: () => clock.now })
  let asked = 0
  const find = (name: string, answer: string | typeof GONE, userId = 7) =>
    lookups.find({ userId, name, old: 'old' }, async () => {
      asked += 1
      return answer
    })
  return { clock, lookups, find, asked: () => asked }
}

describe('look-ups of new addresses of files', () => {
  it('are limited per user, and tell when the next one is possible', async () => {
    const { find, asked } = started()
    const names = Array.from({ length: 50 }, (_, index) => `file ${index}`)
    const found = await Promise.all(names.map((name) => find(name, 'new')))
    expect(found.filter((one) => one === 'new')).toHaveLength(FILE_LOOKUPS_MAX)
    expect(asked()).toBe(FILE_LOOKUPS_MAX)
    expect(found.at(-1)).toEqual({ kind: 'failed', retryAfterMs: 7_000 })
    expect(await find('another file', 'new', 8)).toBe('new')
  })

  it('are shared by requests at once, and remembered for an hour', async () => {
    const { clock, find, asked } = started()
    const found = await Promise.all(Array.from({ length: 50 }, () => find('a', 'new')))
    expect(new Set(found)).toEqual(new Set(['new']))
    clock.now = HOUR_MS - 1
    await find('a', 'newer')
    expect(asked()).toBe(1)
    clock.now = HOUR_MS
    expect(await find('a', 'newer')).toBe('newer')
  })

  it('remember a missing file for a minute, and a failure not at all', async () => {
    const { clock, find } = started()
    expect(await find('a', 'old')).toBe(GONE)
    expect(await find('a', 'new')).toBe(GONE)
    clock.now = MINUTE_MS
    expect(await find('a', 'new')).toBe('new')
    expect(await find('b', FAILED)).toBe(FAILED)
    expect(await find('b', 'new')).toBe('new')
  })

  it('are repeated if the new address has expired as well, or if one throws', async () => {
    const { lookups, find } = started()
    const file = { userId: 7, name: 'a', old: 'old' }
    await find('a', 'new')
    lookups.forget(file)
    expect(await find('a', 'newer')).toBe('newer')
    lookups.forget(file)
    const failing = lookups.find(file, () => Promise.reject(new Error('no connection')))
    await expect(failing).rejects.toThrow('no connection')
    expect(await find('a', 'newest')).toBe('newest')
  })
})
