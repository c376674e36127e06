import { beforeAll, describe, expect, it } from 'vitest'

import type { AuditAct } from '#read-api/contract/audit-log.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { PASSWORD, seededFixture } from '#test/write-api/write-fixture.ts'

type Acts = { items: AuditAct[]; next_cursor: string | null }

const site = startedOnce(seededFixture)
const SECRET = 'sk-secret-key-of-the-provider'
const OLD_ADDRESS = 'https://old.provider.example'
const NEW_ADDRESS = 'https://new.provider.example/v1'
const REASON = 'goodwill after the outage'
let userId = 0
let channelId = 0

async function read(query = ''): Promise<Acts> {
  await site.freshness.waitFor(['audit-log', 'users', 'channels'], await site.head(), 10_000)
  const { status, data, message } = await site.root.call<Acts>('GET', `/api/audit/log?${query}`)
  if (status !== 200) throw new Error(`${status} ${message}`)
  return data
}
async function must(method: 'POST' | 'PUT', path: string, body: object): Promise<number> {
  const answer = await site.root.call<{ id?: number } | null>(method, path, { body })
  if (!answer.success) throw new Error(answer.message)
  return answer.data?.id ?? 0
}
const summary = ({ items }: Acts) =>
  items.map(({ act, before, after }) => [act, before, after] as const)

beforeAll(async () => {
  userId = site.user.id
  await must('PUT', '/api/user/', { id: userId, quota: 700, reason: REASON })
  await must('PUT', '/api/user/', { id: userId, group: 'vip' })
  const channel = { name: 'one', type: 1, key: SECRET, models: 'gpt-4o', group: 'default' }
  const param_override = '{"temperature":0}'
  const base_url = OLD_ADDRESS
  channelId = await must('POST', '/api/channel/', { ...channel, base_url, param_override })
  await must('PUT', '/api/channel/', { id: channelId, priority: 7 })
  await must('PUT', '/api/channel/', { id: channelId, base_url: NEW_ADDRESS, key: SECRET })
  await must('PUT', '/api/option/', { key: 'SystemName', value: 'Gateway' })
})

describe('the audit log', () => {
  it('shows a change of quota with the figures before and after, and the reason', async () => {
    const { items } = await read(`object=user:${userId}&act=quota-granted`)
    expect(items).toHaveLength(1)
    expect(items[0]).toMatchObject({
      ...{ before: { quota: 0 }, after: { quota: 700, amount: 700 }, reason: REASON },
      actor: { kind: 'user', id: '1', name: 'root' },
      object: { kind: 'user', id: String(userId), name: 'user1' },
    })
    expect(items[0]?.request_id).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('names the channel of an act, by its present name', async () => {
    const { items } = await read(`object=channel:${channelId}`)
    const named = { kind: 'channel', id: String(channelId), name: 'one' }
    expect(items.map(({ object }) => object)).toEqual([named, named, named])
  })

  it('shows which fields of an object were changed, from its earlier acts', async () => {
    expect(summary(await read(`object=channel:${channelId}`))[1]).toEqual([
      'channel-terms-changed',
      { priority: 0 },
      expect.objectContaining({ priority: 7 }),
    ])
    expect(summary(await read(`object=user:${userId}&act=user-group-changed`))).toEqual([
      ['user-group-changed', { group: 'default' }, { group: 'vip' }],
    ])
    expect(summary(await read('object=option:SystemName'))).toEqual([
      ['option-set', { value: 'Tallygate' }, { value: 'Gateway' }],
    ])
  })

  it('shows each login with its address', async () => {
    const { items } = await read(`object=user:${userId}&act=user-logged-in`)
    expect(items[0]).toMatchObject({ actor: { name: 'user1' }, client_ip: '127.0.0.1' })
    expect(items[0]?.after).toEqual({ is_by_password: true })
    await site.logIn('user1')
    const again = await read(`object=user:${userId}&act=user-logged-in`)
    expect(again.items).toHaveLength(items.length + 1)
    for (const { before, after } of again.items) {
      expect([before, after]).toEqual([null, { is_by_password: true }])
    }
  })

  it('contains no key or password, and fingerprints of settings that may have one', async () => {
    const { items } = await read('limit=100')
    const text = JSON.stringify(items)
    expect(text).not.toContain(SECRET)
    expect(text).not.toContain(PASSWORD)
    const created = items.find(({ act }) => act === 'channels-created')
    expect(created?.after.param_override).toMatch(/^sha256:[0-9a-f]{12}$/)
  })

  it('shows to which address a channel was pointed', async () => {
    const [repointed, , created] = summary(await read(`object=channel:${channelId}`))
    expect(created?.[2].base_url).toBe(OLD_ADDRESS)
    expect(repointed).toEqual([
      ...['channel-terms-changed', expect.objectContaining({ base_url: OLD_ADDRESS })],
      expect.objectContaining({ base_url: NEW_ADDRESS }),
    ])
  })

  it('is read page by page without gaps, and filtered by actor and time', async () => {
    const all = (await read('limit=100')).items
    const paged: AuditAct[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Acts = await read(`limit=3&cursor=${cursor}`)
      paged.push(...page.items)
      cursor = page.next_cursor
    }
    expect(paged).toEqual(all)
    expect(all.length).toBeGreaterThan(8)
    const byRoot = (await read('actor=user:1&limit=100')).items
    expect(byRoot.every(({ actor }) => actor.id === '1')).toBe(true)
    expect((await read('actor=root&limit=100')).items).toEqual(byRoot)
    expect(byRoot.length).toBeGreaterThan(0)
    expect((await read('actor=zzz')).items).toEqual([])
    const now = Math.floor(Date.now() / 1_000)
    expect((await read(`from=${now + 60}`)).items).toEqual([])
    expect((await read(`to=${now + 60}&limit=100`)).items).toEqual(all)
  })

  it('refuses a period that ends before it begins, and answers an empty one', async () => {
    for (const path of ['/api/audit/log', '/api/audit/log/export']) {
      const reversed = await site.root.call('GET', `${path}?from=200&to=100`)
      expect(reversed).toMatchObject({ status: 400, message: expect.stringMatching(/\bto\b/) })
    }
    expect((await read('from=100&to=100')).items).toEqual([])
  })

  it('names the field of a bad request, and is exported', async () => {
    const wrong = await site.root.call('GET', '/api/audit/log?object=channel')
    expect([wrong.status, wrong.message]).toEqual([400, expect.stringContaining('object')])
    const unknown = await site.root.call('GET', '/api/audit/log?act=nope')
    expect([unknown.status, unknown.message]).toEqual([400, expect.stringContaining('act')])
    expect((await site.root.call('GET', '/api/audit/log?cursor=x')).status).toBe(400)
    const headers = { cookie: site.root.cookie, 'user-id': '1' }
    const url = '/api/audit/log/export'
    const { items } = await read('limit=100')
    const file = await site.app.inject({ url: `${url}?format=ndjson`, headers })
    const lines = file.body.trimEnd().split('\n')
    const exported = lines.map((line) => JSON.parse(line) as AuditAct)
    // The export is an act itself, which the read model may include by then.
    expect(exported.filter(({ act }) => act !== 'data-exported')).toEqual(items)
    const csv = await site.app.inject({ url: `${url}?object=option:SystemName`, headers })
    expect(csv.body.split('\r\n')[1]).toContain('option:SystemName')
  })

  it('shows only the changed entries of a price list, and budgets of tokens', async () => {
    await must('PUT', '/api/option/', { key: 'ModelRatio', value: '{"a":1,"b":2}' })
    await must('PUT', '/api/option/', { key: 'ModelRatio', value: '{"a":1,"b":3}' })
    expect(summary(await read('object=option:ModelRatio'))[0]).toEqual([
      ...['option-set', { b: 2 }, { b: 3 }],
    ])
    const token = { name: 'budget', remain_quota: 30, unlimited_quota: false }
    await must('POST', '/api/token/', token)
    const { items } = await read('act=token-budgets-opened&limit=1')
    expect(items[0]?.after).toEqual({ quota: 30, is_unlimited: false })
  })

  it('leaves nothing of a person after the erasure, in no answer, export or table', async () => {
    const person = { username: 'leaving', password: PASSWORD }
    await must('POST', '/api/user/', person)
    const { items } = await read('act=user-created&limit=1')
    const id = Number(items[0]?.object.id)
    await must('PUT', '/api/user/', { id, quota: 5, reason: 'a private reason' })
    const leaving = await site.logIn('leaving')
    const token = { name: 'a private token', allow_ips: '203.0.113.77' }
    expect((await leaving.call('POST', '/api/token/', { body: token })).status).toBe(200)
    expect(JSON.stringify(await read(`object=user:${id}`))).toContain('a private reason')
    await must('POST', '/api/user/erase', { id, username: 'leaving' })
    const page = await read(`object=user:${id}`)
    expect(page.items[0]?.act).toBe('user-erased')
    const granted = page.items.find(({ act }) => act === 'quota-granted')
    const erased = { reason: '', is_reason_erased: true }
    expect(granted).toMatchObject({ before: { quota: 0 }, after: { quota: 5 }, ...erased })
    const unreasoned = page.items.find(({ act }) => act === 'user-created')
    expect(unreasoned).toMatchObject({ reason: '', is_reason_erased: false })
    await site.freshness.waitFor(['users', 'tokens', 'call-log'], await site.head(), 10_000)
    const headers = { cookie: site.root.cookie, 'user-id': '1' }
    const texts = [JSON.stringify(page), ...(await textOfTables())]
    for (const format of ['csv', 'ndjson']) {
      const url = `/api/audit/log/export?format=${format}`
      texts.push((await site.app.inject({ url, headers })).body)
    }
    for (const part of ['leaving', 'a private reason', 'a private token', '203.0.113.77']) {
      const found = texts.filter((text) => text.includes(part))
      expect(
        found.map((text) => text.slice(0, 80)),
        part,
      ).toEqual([])
    }
    expect(await site.isFold('audit-log')).toBe(true)
  })
})

/** The contents of all tables of the site, the events among them, with the name of each table. */
async function textOfTables(): Promise<readonly string[]> {
  const { rows: tables } = await site.core.pg.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  )
  expect(tables.length).toBeGreaterThan(20)
  const texts: string[] = []
  for (const { name } of tables) {
    const { rows } = await site.core.pg.query<{ text: string }>(
      `select coalesce(string_agg(t::text, ' '), '') as text from ${name} t`,
    )
    texts.push(`${name}: ${rows[0]?.text}`)
  }
  return texts
}
