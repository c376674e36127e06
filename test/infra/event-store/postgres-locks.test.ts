import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  createMemoryLocks,
  createPostgresLocks,
  type Locks,
  LockTimeout,
} from '#infra/event-store/eventstoredb/locks.ts'
import { backendsOf } from '#test/support/suspend-postgres.ts'
import { testDatabase } from '#test/support/test-database.ts'

/** Opens the locks of two simulated processes, which exclude each other. */
type OpenTwo = () => Promise<{ one: Locks; two: Locks; close: () => Promise<void> }>

const inMemory: OpenTwo = async () => {
  const locks = createMemoryLocks()
  return { one: locks, two: locks, close: async () => {} }
}

const inPostgres: OpenTwo = async () => {
  const database = await testDatabase()
  const open = () => createPostgresLocks(database.url, 'a store')
  const [one, two] = await Promise.all([open(), open()])
  const close = async (): Promise<void> => {
    await Promise.all([one.close(), two.close()])
    await database.drop()
  }
  return { one, two, close }
}

/** Creates work that runs until the test calls `free`. */
function busyWork() {
  const entered = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  const work = async (): Promise<void> => {
    entered.resolve()
    await over.promise
  }
  return { isEntered: entered.promise, free: over.resolve, work }
}

describe.each([
  ['in memory', inMemory],
  ['in Postgres', inPostgres],
] as const)('locks %s', (_, openTwo) => {
  let opened: Awaited<ReturnType<OpenTwo>>
  beforeAll(async () => {
    opened = await openTwo()
  })
  afterAll(() => opened.close())

  it('exclude each other for names in any order, without a deadlock', async () => {
    const { one, two } = opened
    const held = new Set<string>()
    let overlaps = 0
    const work = (names: readonly string[]) => async (): Promise<void> => {
      if (names.some((name) => held.has(name))) overlaps += 1
      for (const name of names) held.add(name)
      await new Promise((resolve) => setImmediate(resolve))
      for (const name of names) held.delete(name)
    }
    await Promise.all(
      Array.from({ length: 60 }, (_unused, index) => {
        const names = index % 2 === 0 ? ['a', 'b', 'c'] : ['c', 'a', 'x']
        return (index % 3 === 0 ? one : two).together(names, 10_000, work(names))
      }),
    )
    expect(overlaps).toBe(0)
  })

  it('time out before any work is done, and then become free', async () => {
    const { one, two } = opened
    const { isEntered, free, work } = busyWork()
    const holding = one.together(['busy'], 1_000, work)
    await isEntered
    let isDone = false
    const late = two.together(['busy', 'idle'], 100, async () => {
      isDone = true
    })
    await expect(late).rejects.toThrow(LockTimeout)
    expect(isDone).toBe(false)
    free()
    await holding
    expect(await two.together(['busy'], 1_000, async () => 7)).toBe(7)
  })

  it('pass on the error that the work throws, and become free', async () => {
    const { one, two } = opened
    const error = new Error('fault')
    await expect(one.together(['f'], 1_000, () => Promise.reject(error))).rejects.toBe(error)
    expect(await two.together(['f'], 1_000, async () => true)).toBe(true)
  })

  it('let one process do work that only one process has to do', async () => {
    const { one, two } = opened
    const { isEntered, free, work } = busyWork()
    const first = one.alone('recovery', work)
    await isEntered
    expect(await two.alone('recovery', async () => {})).toBe(false)
    free()
    expect(await first).toBe(true)
    expect(await two.alone('recovery', async () => {})).toBe(true)
  })

  it('store the position of complete appends, which never decreases', async () => {
    const { one, two } = opened
    expect(await one.completeUpTo()).toBe(0)
    await one.setCompleteUpTo(700)
    await two.setCompleteUpTo(500)
    expect(await two.completeUpTo()).toBe(700)
  })
})

describe('a frozen Postgres', () => {
  async function openOnFrozen() {
    const database = await testDatabase()
    const locks = await createPostgresLocks(database.url, 'a store', 300)
    onTestFinished(async () => {
      await locks.close()
      await database.drop()
    })
    // This call opens a connection, which the pool reuses after the freeze.
    await locks.together(['a'], 1_000, async () => {})
    return { locks, ...(await backendsOf(database.url)) }
  }

  it.each<[string, (locks: Locks) => Promise<unknown>]>([
    ['streams are locked', (locks) => locks.together(['a'], 5_000, async () => {})],
    ['the recovery is to be alone', (locks) => locks.alone('recovery', async () => {})],
    ['the recovery asks how far it is', (locks) => locks.completeUpTo()],
    ['the recovery says how far it is', (locks) => locks.setCompleteUpTo(7)],
    ['the time is asked for', (locks) => locks.now()],
  ])('times out as %s, and another connection serves the next request', async (_what, ask) => {
    const { locks, freeze } = await openOnFrozen()
    freeze()
    await expect(ask(locks)).rejects.toThrow()
    await ask(locks)
  })

  it('does not block others for long after the work is done, and the work counts', async () => {
    const { locks, freeze, thaw } = await openOnFrozen()
    const work = async () => {
      freeze()
      return 'done'
    }
    expect(await locks.together(['a'], 1_000, work)).toBe('done')
    thaw()
    expect(await locks.together(['a'], 5_000, async () => 'next')).toBe('next')
  })
})
