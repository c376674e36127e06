import { beforeAll, describe, expect, it, vi } from 'vitest'
import { Permits } from '#relay/tasks/limit-concurrent-work.ts'
import { PICTURE_PERMITS, permitNames } from '#relay/tasks/serve-drawing-file.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { tasksRig } from './tasks-rig.ts'

const KEYS = [8, 9].map((userId) => `zyxwvutsrqponmlkjihgfedcba9876543210ABCDEFGHIJK${userId}`)
const headersOf = (userId: number) => ({ 'mj-api-secret': KEYS[userId - 8] ?? '' })
const NO_KEY = { 'mj-api-secret': '' }

const rig = startedOnce(() => tasksRig({}, { taskMs: 50 }))
beforeAll(async () => {
  for (const [at, key] of KEYS.entries()) {
    await rig.addUser(8 + at)
    await rig.addToken(4 + at, 8 + at, key)
    await rig.grant(8 + at, 1_000_000_000n)
  }
})

const limited = { status: 429, json: { error: { code: 'rate_limited' } } }

describe('reads of tasks', () => {
  it('are limited to 6000 tasks a minute per user, over any number of lists', async () => {
    const ids = Array.from({ length: 100 }, (_, n) => `none-${n}`)
    for (let round = 0; round < 4; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: 15 }, () =>
          rig.ask('/mj/task/list-by-condition', { ids }, headersOf(8)),
        ),
      )
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    }
    const full = await rig.ask('/mj/task/list-by-condition', { ids }, headersOf(8))
    expect(full).toMatchObject(limited)
    expect(Number(full.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await rig.ask('/mj/task/list-by-condition', { ids }, headersOf(9))).toMatchObject({
      status: 200,
    })
  })

  it('that ask providers for seeds are limited to thirty a minute, also at once', async () => {
    const task = await rig.imagine('a boat', headersOf(9))
    const seed = () => rig.ask(`/mj/task/${task}/image-seed`, undefined, headersOf(9))
    const answers = await Promise.all(Array.from({ length: 50 }, seed))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(30)
    expect(statuses.filter((status) => status === 429)).toHaveLength(20)
  })
})

describe('a channel with a limit', () => {
  it('counts a request for a seed like one for a task', async () => {
    const { url: baseUrl } = rig.provider
    await rig.addChannel(71, { type: 2, models: ['mj_describe'], priority: 9, maxRpm: 2, baseUrl })
    const body = { base64: 'data:image/png;base64,iVBORw0KGgo=' }
    const { json } = await rig.ask('/mj/submit/describe', body, headersOf(8))
    const seed = () => rig.ask(`/mj/task/${json.result}/image-seed`, undefined, headersOf(8))
    expect(await seed()).toMatchObject({ status: 200 })
    expect(await seed()).toMatchObject({ status: 429, json: { error: { code: 'channels_busy' } } })
  })
})

describe('callers without a key', () => {
  it('cause no store reads by a callback without a valid signature', async () => {
    await rig.setOption('MjNotifyEnabled', 'true')
    const readStream = vi.spyOn(rig.core.store, 'readStream')
    const id = '019ab0de-2c00-7000-8000-00000000'
    const forged = Array.from({ length: 50 }, (_, n) =>
      rig.ask(`/mj/notify/${id}${1_000 + n}/21/ref-21/${'ab'.repeat(32)}`, {}, NO_KEY),
    )
    const odd = await rig.ask('/mj/image/2f1b7a52-6a1e-4b1e-9e42-0a0b0c0d0e0f')
    expect(odd.status).toBe(404)
    const statuses = (await Promise.all(forged)).map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([403]))
    expect(readStream).not.toHaveBeenCalled()
    readStream.mockRestore()
  })

  it('can guess sixty picture addresses a minute', async () => {
    const id = '019ab0de-2c00-7000-8000-00000000'
    const statuses: number[] = []
    for (let n = 0; n < 70; n += 1) {
      statuses.push((await rig.ask(`/mj/image/${id}${2_000 + n}`, undefined, NO_KEY)).status)
    }
    // One of them was guessed above.
    expect(statuses.filter((status) => status === 404)).toHaveLength(59)
    expect(statuses.slice(59)).toEqual(Array(11).fill(429))
    expect(await rig.imagine('a boat', headersOf(9))).toBeTruthy()
  })
})

describe('permits for pictures', () => {
  const NEVER = new AbortController().signal
  const max = { total: 8, waiting: 60, waitingPerName: 45, waitMs: 5_000 }
  const six = (...names: string[]) => names.map((name) => ({ name, max: 6 }))
  const one = [{ name: 'a', max: 1 }]

  it('are six per owner: further readers wait, and another owner is served', async () => {
    const permits = new Permits(max)
    let [now, most, done] = [0, 0, 0]
    const show = async () => {
      const leave = await permits.enter(six('owner 7', 'address 1'), NEVER)
      now += 1
      most = Math.max(most, now)
      await new Promise((resume) => setImmediate(resume))
      now -= 1
      done += 1
      leave?.()
    }
    const all = Promise.all(Array.from({ length: 50 }, show))
    const other = await permits.enter(six('owner 8', 'address 2'), NEVER)
    expect(other).not.toBeNull()
    await all
    expect([most, done, now]).toEqual([6, 50, 0])
  })

  it('have a bounded queue and wait, and are not given to aborted readers', async () => {
    const permits = new Permits({ ...max, waitingPerName: 1, waitMs: 20 })
    const leave = await permits.enter(one, NEVER)
    const waiting = permits.enter(one, NEVER)
    expect(await permits.enter(one, NEVER)).toBeNull()
    expect(await waiting).toBeNull()
    const gone = new AbortController()
    const left = permits.enter(one, gone.signal)
    gone.abort()
    expect(await left).toBeNull()
    leave?.()
    expect(await permits.enter(one, NEVER)).not.toBeNull()
  })

  it('are given in turns of the names, and a name without waiters finds a place', async () => {
    const permits = new Permits({ ...max, total: 2, waiting: 20, isRoundRobin: true })
    const started: string[] = []
    const enter = async (name: string) => {
      const leave = await permits.enter([{ name, max: 1 }], NEVER)
      if (leave === null) return
      started.push(name)
      await new Promise((resume) => setImmediate(resume))
      leave()
    }
    const names = [...Array(11).fill('a'), ...Array(11).fill('b'), 'a', 'c']
    await Promise.all(names.map(enter))
    // The queue had 20 waiters when the last two names arrived.
    expect(started).toHaveLength(23)
    expect(started.slice(0, 5)).toContain('c')
  })

  it('are 32 per owner and three per reader, however many readers there are', async () => {
    const permits = new Permits({ ...PICTURE_PERMITS, waitMs: 20 })
    const show = (userId: number, clientIp: string) => {
      const known = { submitted: { userId } } as Parameters<typeof permitNames>[1]
      return permits.enter(permitNames({ clientIp }, known), NEVER)
    }
    const shown = async (userId: number, readers: number) => {
      const addresses = Array.from({ length: 50 }, (_, n) => `203.0.113.${n % readers}`)
      const all = await Promise.all(addresses.map((address) => show(userId, address)))
      return all.filter((leave) => leave !== null).length
    }
    expect(await shown(7, 1)).toBe(3)
    expect(await shown(8, 50)).toBe(32)
    // An address that has the pictures of two owners has six, as before.
    expect(await show(9, '203.0.113.0')).not.toBeNull()
    expect(await shown(9, 1)).toBe(1)
  })
})
