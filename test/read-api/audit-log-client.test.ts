import { beforeAll, describe, expect, it } from 'vitest'

import { newEvents } from '#infra/event-store/events-from-facts.ts'
import type { AuditAct } from '#read-api/contract/audit-log.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { type Caller, callerOf, PASSWORD, seededFixture } from '#test/write-api/write-fixture.ts'

const PROXY = '127.0.0.1'
const ADMIN_IP = '203.0.113.99'
const NEWCOMER_IP = '2001:db8::17'

const site = startedOnce(() => seededFixture({ trustProxy: [PROXY] }))
let admin: Caller

/** The call arrives from the trusted proxy, which names the client's address. */
const from =
  (call: Caller, ip: string): Caller =>
  (method, url, { body, headers = {} } = {}) =>
    call(method, url, { body, headers: { ...headers, 'x-forwarded-for': ip } })

async function acts(query = '', call: Caller = site.root.call): Promise<AuditAct[]> {
  await site.freshness.waitFor(['audit-log', 'users'], await site.head(), 10_000)
  const url = `/api/audit/log?limit=100&${query}`
  const { status, data, message } = await call<{ items: AuditAct[] }>('GET', url)
  if (status !== 200) throw new Error(`${status} ${message}`)
  return data.items
}

async function must(call: Caller, method: 'GET' | 'POST' | 'PUT', url: string, body?: object) {
  const answer = await call(method, url, body === undefined ? {} : { body })
  if (!answer.success) throw new Error(`${url}: ${answer.message}`)
  return answer.data
}

beforeAll(async () => {
  admin = from(site.admin.call, ADMIN_IP)
  await must(admin, 'PUT', '/api/user/', { id: site.user.id, group: 'vip' })
  const channel = { name: 'one', type: 1, key: 'sk-1', models: 'gpt-4o', group: 'default' }
  await must(admin, 'POST', '/api/channel/', channel)
  await must(admin, 'POST', '/api/token/', { name: 'mine' })
  const message = { title: 'Hello', content: 'all', user_ids: [site.user.id] }
  await must(admin, 'POST', '/api/admin/messages', message)
  await must(admin, 'PUT', '/api/user/', { id: site.user.id, quota: 900, reason: 'sorry' })
})

describe('the client of an act', () => {
  it('is the address that the trusted proxy names, with the id of the request', async () => {
    const found = await acts('actor=user:2')
    const byAdmin = found.filter(({ act }) => act !== 'user-logged-in')
    expect(byAdmin.map(({ act }) => act)).toEqual(
      expect.arrayContaining([
        ...['user-group-changed', 'channels-created', 'tokens-created', 'message-sent'],
        ...['quota-granted', 'token-budgets-opened'],
      ]),
    )
    for (const act of byAdmin) {
      expect([act.act, act.client_ip]).toEqual([act.act, ADMIN_IP])
      expect(act.request_id).toMatch(/^[0-9a-f-]{36}$/)
    }
  })

  it('is known for access tokens, and for registrations and the setup', async () => {
    const token = await must(site.admin.call, 'GET', '/api/user/token')
    const headers = { authorization: `Bearer ${token}`, 'user-id': '2' }
    const script = from(callerOf(site.app, headers), '198.51.100.4')
    await must(script, 'PUT', '/api/user/', { id: site.user.id, group: 'default' })
    const [changed] = await acts('act=user-group-changed')
    expect(changed).toMatchObject({ client_ip: '198.51.100.4', actor: { name: 'admin1' } })
    const body = { username: 'newcomer', password: PASSWORD }
    await must(from(site.anybody, NEWCOMER_IP), 'POST', '/api/user/register', body)
    const [created] = await acts('act=user-created&actor=system:register')
    expect(created).toMatchObject({ client_ip: NEWCOMER_IP, actor: { kind: 'system' } })
    const [initialized] = await acts('act=site-initialized')
    expect(initialized?.client_ip).toBe(PROXY)
  })

  it('is not what a client without a proxy claims, and never a text of another kind', async () => {
    const direct = callerOf(
      site.app,
      { cookie: site.admin.cookie, 'user-id': '2' },
      '198.51.100.77',
    )
    await must(from(direct, '10.9.9.9'), 'PUT', '/api/user/', { id: site.user.id, group: 'vip' })
    expect((await acts('act=user-group-changed'))[0]?.client_ip).toBe('198.51.100.77')
    const garbage = from(site.admin.call, '<script>')
    await must(garbage, 'PUT', '/api/user/', { id: site.user.id, group: 'default' })
    expect((await acts('act=user-group-changed'))[0]?.client_ip).toBe('')
  })

  it('is in both exports', async () => {
    const headers = { cookie: site.root.cookie, 'user-id': '1' }
    const url = '/api/audit/log/export?act=channels-created'
    const csv = await site.app.inject({ url, headers })
    const [heads = '', row = ''] = csv.body.split('\r\n')
    const column = heads.split(',').indexOf('client_ip')
    expect(column).toBeGreaterThan(0)
    expect(row).toContain(ADMIN_IP)
    const lines = await site.app.inject({ url: `${url}&format=ndjson`, headers })
    expect(JSON.parse(lines.body.split('\n')[0] ?? '')).toMatchObject({ client_ip: ADMIN_IP })
  })

  it('is nowhere in plain form, and unreadable once the actor is erased', async () => {
    expect(await tablesWith(ADMIN_IP)).toEqual([])
    const before = (await acts('actor=user:2')).length
    await must(site.root.call, 'POST', '/api/user/erase', { id: 2, username: 'admin1' })
    const after = await acts('actor=user:2')
    expect(after).toHaveLength(before)
    expect(after.map(({ client_ip: ip }) => ip).filter((ip) => ip !== '')).toEqual([])
    const [granted] = await acts(`object=user:${site.user.id}&act=quota-granted`)
    expect(granted).toMatchObject({ after: { quota: 900 }, reason: 'sorry', client_ip: '' })
    expect(JSON.stringify(await acts())).not.toContain(ADMIN_IP)
    expect(await site.isFold('audit-log')).toBe(true)
  })

  it('leaves events without a known client as they were, byte for byte', () => {
    const fact = { type: 'UserDisabled', v: 1, data: { userId: 7 } }
    const context = { actor: 'user:1', cause: null, at: 1 }
    for (const unknown of [context, { ...context, client: null }]) {
      const [event] = newEvents([fact], unknown)
      expect(JSON.stringify(event?.data)).toBe('{"userId":7}')
      expect(event?.meta).toEqual(context)
    }
  })
})

/** Returns the tables with a column that contains the text. */
async function tablesWith(text: string): Promise<readonly string[]> {
  const { rows } = await site.core.pg.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema', 'auth')`,
  )
  expect(rows.length).toBeGreaterThan(20)
  const found: string[] = []
  for (const { name } of rows) {
    const { rowCount } = await site.core.pg.query(
      `select from ${name} t where strpos(t::text, $1) > 0 limit 1`,
      [text],
    )
    if ((rowCount ?? 0) > 0) found.push(name)
  }
  return found
}
