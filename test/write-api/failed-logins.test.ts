import { afterEach, describe, expect, it, vi } from 'vitest'
import type { LoginsFailed } from '#domain/credentials/events.ts'
import type { Recorded, Sealed } from '#domain/shared/event.ts'
import type { AuditAct } from '#read-api/contract/audit-log.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { recordFailedLogins } from '#write-api/sessions/record-failed-logins.ts'
import { callerOf, PASSWORD, seededFixture } from './write-fixture.ts'

const site = startedOnce(seededFixture)
const ATTACKER = '203.0.113.66'
const GUESS = 'a guessed password'
const attack = (username: string, ip = ATTACKER) =>
  callerOf(site.app, {}, ip)('POST', '/api/user/login', {
    body: { username, password: GUESS },
  })

async function failures(query = ''): Promise<AuditAct[]> {
  await site.freshness.waitFor(['audit-log', 'users'], await site.head(), 10_000)
  const url = `/api/audit/log?act=logins-failed&${query}`
  return (await site.root.call<{ items: AuditAct[] }>('GET', url)).data.items
}

/** Waits until the period of the failed logins has ended. */
const recorded = async (query: string): Promise<AuditAct> => {
  await expect.poll(() => failures(query), { timeout: 20_000 }).not.toEqual([])
  return (await failures(query))[0] as AuditAct
}

describe('failed logins', () => {
  it('appear in the audit log with their number, reasons and address', async () => {
    const answers = [await attack('admin1'), await attack('admin1'), await attack('nobody-at-all')]
    expect(answers.map(({ code }) => code)).toEqual(Array(3).fill('WrongCredentials'))
    const act = await recorded('object=user:2')
    expect(act).toMatchObject({
      ...{ actor: { kind: 'system', id: 'logins' }, object: { name: 'admin1' } },
      ...{ before: {}, after: { count: 2, 'wrong-password': 2 }, client_ip: ATTACKER },
    })
    const unknown = await recorded('object=site:')
    expect(unknown).toMatchObject({ after: { count: 1, 'unknown-user': 1 }, client_ip: '' })
    expect(unknown.after.network).toMatch(/^[0-9a-f]{16}$/)
  })

  it('leave neither the password nor the unknown name nor the address in plain form', async () => {
    const { rows } = await site.core.pg.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema')`,
    )
    for (const { name } of rows) {
      const { rowCount } = await site.core.pg.query(
        `select from ${name} t where t::text ilike any($1) limit 1`,
        [[GUESS, 'nobody-at-all', ATTACKER].map((text) => `%${text}%`)],
      )
      expect([name, rowCount]).toEqual([name, 0])
    }
  })

  it('lose their address with the account that they were for', async () => {
    await site.root.call('POST', '/api/user/erase', { body: { id: 2, username: 'admin1' } })
    expect(await failures('object=user:2')).toMatchObject([{ client_ip: '', after: { count: 2 } }])
    expect(await site.isFold('audit-log')).toBe(true)
  })

  it('do not include successful ones', async () => {
    await site.logIn('user1', PASSWORD)
    expect(await failures(`object=user:${site.user.id}`)).toEqual([])
  })
})

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
      logins.add({ reason: 'wrong-password', userId, isUrgent: false, ip })
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
