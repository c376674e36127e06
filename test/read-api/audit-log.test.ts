import { beforeAll, describe, expect, it } from 'vitest'

import type { AuditAct } from '#read-api/contract/audit-log.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { PASSWORD, seededFixture } from '#test/write-api/write-fixture.ts'

type Acts = { items: AuditAct[]; next_cursor: string | null }

const site = startedOnce(seededFixture)
const SECRET = 'sk-secret-key-of-the-provider'
const HIDDEN = 'hidden.provider.example'
const REASON = 'goodwill after the outage'
let userId = 0
let channelId = 0

async function read(query = ''): Promise<Acts> {
  await site.freshness.waitFor(['audit-log', 'users'], await site.head(), 10_000)
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
  const base_url = `https://${HIDDEN}`
  channelId = await must('POST', '/api/channel/', { ...channel, base_url })
  await must('PUT', '/api/channel/', { id: channelId, priority: 7 })
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

  it('shows which fields of an object were changed, from its earlier acts', async () => {
    expect(summary(await read(`object=channel:${channelId}`))[0]).toEqual([
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
  })

  it('contains no key, password or hidden address', async () => {
    const { items } = await read('limit=100')
    const text = JSON.stringify(items)
    expect(text).not.toContain(SECRET)
    expect(text).not.toContain(PASSWORD)
    expect(text).not.toContain(HIDDEN)
    const created = items.find(({ act }) => act === 'channels-created')
    expect(created?.after.base_url).toMatch(/^sha256:[0-9a-f]{12}$/)
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
    const now = Math.floor(Date.now() / 1_000)
    expect((await read(`from=${now + 60}`)).items).toEqual([])
    expect((await read(`to=${now + 60}&limit=100`)).items).toEqual(all)
  })

  it('names the field of a bad request, and is exported', async () => {
    const wrong = await site.root.call('GET', '/api/audit/log?object=channel')
    expect([wrong.status, wrong.message]).toEqual([400, expect.stringContaining('object')])
    expect((await site.root.call('GET', '/api/audit/log?cursor=x')).status).toBe(400)
    const headers = { cookie: site.root.cookie, 'user-id': '1' }
    const url = '/api/audit/log/export'
    const file = await site.app.inject({ url: `${url}?format=ndjson`, headers })
    const lines = file.body.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line) as AuditAct)).toEqual(
      (await read('limit=100')).items,
    )
    const csv = await site.app.inject({ url: `${url}?object=option:SystemName`, headers })
    expect(csv.body.split('\r\n')[1]).toContain('option:SystemName')
  })

  it('shows nothing of a person after the erasure', async () => {
    await must('POST', '/api/user/', { username: 'leaving', password: PASSWORD })
    const { items } = await read('act=user-created&limit=1')
    const id = Number(items[0]?.object.id)
    await must('PUT', '/api/user/', { id, quota: 5, reason: 'a private reason' })
    await must('POST', '/api/user/erase', { id, username: 'leaving' })
    const text = JSON.stringify(await read(`object=user:${id}`))
    expect(text).toContain('user-erased')
    for (const part of ['leaving', 'a private reason']) expect(text).not.toContain(part)
  })
})
