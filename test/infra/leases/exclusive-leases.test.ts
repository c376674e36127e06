import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLeases, isCurrent, type Lease, type Leases } from '#infra/leases/exclusive-leases.ts'
import { testDatabase } from '#test/support/test-database.ts'

const log = pino({ level: 'silent' })
let pg: Pool
let one: Leases
let two: Leases
let drop: () => Promise<void>

beforeAll(async () => {
  const database = await testDatabase()
  pg = new Pool({ connectionString: database.url, max: 8 })
  one = await createLeases(pg, log)
  two = await createLeases(pg, log)
  drop = async () => {
    await pg.end()
    await database.drop()
  }
})
afterAll(() => drop())

const holds = async (leases: readonly Lease[]): Promise<boolean> => {
  const client = await pg.connect()
  try {
    return await isCurrent(client, leases)
  } finally {
    client.release()
  }
}

describe('a lease', () => {
  it('belongs to one process at a time, which prolongs it until it is released', async () => {
    const first = await one.acquire('a', 60_000)
    expect(await two.acquire('a', 60_000)).toBeNull()
    expect(await one.acquire('a', 60_000)).toEqual(first)
    if (first !== null) await one.release(first)
    expect(await two.acquire('a', 60_000)).toEqual({ name: 'a', fence: (first?.fence ?? 0) + 1 })
  })

  it('goes to one process when fifty request it at once', async () => {
    const all = await Promise.all(Array.from({ length: 50 }, () => createLeases(pg, log)))
    const taken = await Promise.all(all.map((leases) => leases.acquire('b', 60_000)))
    expect(taken.filter((lease) => lease !== null)).toHaveLength(1)
  })

  it('goes to another process after it expires, and its old holder is fenced', async () => {
    const old = (await one.acquire('c', 50)) as Lease
    const beside = (await one.acquire('c2', 60_000)) as Lease
    expect(await holds([old, beside])).toBe(true)
    await delay(80)
    const next = (await two.acquire('c', 60_000)) as Lease
    expect([await holds([old, beside]), await holds([next]), await holds([beside])]).toEqual([
      false,
      true,
      true,
    ])
    await one.release(old)
    expect(await holds([next])).toBe(true)
  })
})

describe('work under a lease', () => {
  it('is done by one process at a time, and continues elsewhere when that one stops', async () => {
    const doing = new Set<string>()
    const seen: string[] = []
    const work = (who: string) => async (_lease: Lease, lost: AbortSignal) => {
      doing.add(who)
      seen.push([...doing].join())
      await new Promise((resolve) => lost.addEventListener('abort', resolve))
      doing.delete(who)
    }
    const first = one.hold('d', work('one'), { ttlMs: 300 })
    await expect.poll(() => seen).toEqual(['one'])
    const second = two.hold('d', work('two'), { ttlMs: 300 })
    await delay(400)
    expect(seen).toEqual(['one'])
    await first.stop()
    await expect.poll(() => seen).toEqual(['one', 'two'])
    await second.stop()
    expect(doing.size).toBe(0)
  })

  it('is tried again after it fails', async () => {
    let tries = 0
    const held = one.hold(
      'e',
      async () => {
        tries += 1
        throw new Error('not yet')
      },
      { ttlMs: 90 },
    )
    await expect.poll(() => tries).toBeGreaterThan(1)
    await held.stop()
  })

  it('receives an abort signal when another process gets its lease', async () => {
    let isLost = false
    const held = one.hold(
      'f',
      (_lease, lost) =>
        new Promise((resolve) => {
          lost.addEventListener('abort', () => {
            isLost = true
            resolve()
          })
        }),
      { ttlMs: 300 },
    )
    await expect.poll(async () => (await two.acquire('f', 1)) === null).toBe(true)
    await pg.query(`update leases.leases set owner = 'another', fence = fence + 1 where name = 'f'`)
    await expect.poll(() => isLost).toBe(true)
    await held.stop()
  })
})
