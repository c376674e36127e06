import { describe, expect, it } from 'vitest'
import type { AuditAct } from '#read-api/contract/audit-log.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
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
  await expect.poll(() => failures(query)).not.toEqual([])
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
