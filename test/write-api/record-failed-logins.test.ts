import { afterEach, describe, expect, it, vi } from 'vitest'
import type { LoginsFailed } from '#domain/credentials/events.ts'
import type { Recorded, Sealed } from '#domain/shared/event.ts'
import { recordFailedLogins } from '#write-api/sessions/record-failed-logins.ts'

const ATTACKER = '203.0.113.66'

describe('the recorder of failed logins', () => {
  afterEach(() => vi.useRealTimers())

  const recorder = () => {
    vi.useFakeTimers()
    const appended: Recorded<LoginsFailed>[] = []
    const store = {
      isDown: false,
      append: async (streams: readonly { events: readonly unknown[] }[]) => {
        if (store.isDown) throw new Error('down')
        for (const { events } of streams) appended.push(...(events as Recorded<LoginsFailed>[]))
        return { position: 1, streams: [] }
      },
    }
    const vault = {
      seal: async (userId: number, text: string) => `${userId} ${text}` as Sealed,
      keyedHash: (_purpose: string, text: string) => `hash of ${text}`,
    }
    const log = { warn: vi.fn() }
    const deps = { store, vault, log, now: () => Date.now() }
    const logins = recordFailedLogins(deps as unknown as Parameters<typeof recordFailedLogins>[0])
    const fail = (userId: number | null, ip = ATTACKER) =>
      logins.add({ reason: 'wrong-password', userId, urgency: 0, ip })
    return { appended, store, logins, fail }
  }

  it('writes a small number of events while 50 000 logins fail per minute', async () => {
    const { appended, fail, logins } = recorder()
    for (let second = 0; second < 600; second += 1) {
      for (let n = 0; n < 833; n += 1) fail(1 + ((second * 31 + n) % 5_000), `10.0.${n % 256}.1`)
      await vi.advanceTimersByTimeAsync(1_000)
    }
    await logins.stop()
    expect(appended.length).toBeLessThanOrEqual(16 * 8)
    expect(appended.length).toBeGreaterThan(16)
    expect(appended.reduce((sum, { data }) => sum + data.count, 0)).toBe(600 * 833)
  })

  it('starts with short periods again after ten quiet minutes', async () => {
    const { appended, fail } = recorder()
    fail(7)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(appended).toHaveLength(1)
    fail(7)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(appended).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(appended).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(600_001)
    fail(7)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(appended).toHaveLength(3)
  })

  it('forgets nothing while the store is down, and records the rest when it stops', async () => {
    const { appended, fail, store, logins } = recorder()
    store.isDown = true
    fail(7)
    fail(null)
    await vi.advanceTimersByTimeAsync(30_000)
    expect(appended).toEqual([])
    store.isDown = false
    fail(7)
    await logins.stop()
    expect(appended.map(({ data }) => [data.userId, data.count])).toEqual([
      [7, 2],
      [null, 1],
    ])
    expect(appended[0]?.data.client).toEqual({ userId: 7, ip: `7 ${ATTACKER}` })
    expect(appended[1]?.data).not.toHaveProperty('client')
  })
})
