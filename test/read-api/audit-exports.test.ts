import { describe, expect, it, vi } from 'vitest'
import { StoreUnavailable } from '#infra/event-store/port.ts'
import type { AuditAct } from '#read-api/contract/audit-log.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { type LoggedIn, seededFixture } from '#test/write-api/write-fixture.ts'

const site = startedOnce(seededFixture)

const download = ({ cookie, id }: LoggedIn, url: string) =>
  site.app.inject({ url, headers: { cookie, 'user-id': String(id) }, remoteAddress: '203.0.113.8' })

async function exportsBy(who: LoggedIn): Promise<AuditAct[]> {
  await site.freshness.waitFor(['audit-log', 'users'], await site.head(), 10_000)
  const url = `/api/audit/log?act=data-exported&actor=user:${who.id}&limit=100`
  return (await site.root.call<{ items: AuditAct[] }>('GET', url)).data.items
}

describe('exports of data of others', () => {
  it.each([
    ['/api/audit/export?from=2&to=5', 'site:', { exported: 'events', from: 2, to: 5 }],
    [
      '/api/audit/log/export?format=ndjson&actor=user:3',
      'site:',
      { exported: 'audit-log', format: 'ndjson', from: null, filters: ['actor'] },
    ],
    [
      '/api/audit/ledger/3/export?from=100&to=2000000000',
      'user:3',
      { exported: 'ledger', format: 'csv', from: 100, to: 2_000_000_000, filters: [] },
    ],
    [
      '/api/log/export?username=secretname&start_timestamp=7&zone=UTC',
      'site:',
      { exported: 'call-log', format: 'csv', from: 7, to: null, filters: ['username'] },
    ],
  ])('are recorded before they are sent: %s', async (url, object, after) => {
    const answer = await download(site.root, url)
    expect(answer.statusCode).toBe(200)
    const [act] = await exportsBy(site.root)
    expect(act).toMatchObject({ after, client_ip: '203.0.113.8', actor: { name: 'root' } })
    expect(`${act?.object.kind}:${act?.object.id}`).toBe(object)
    expect(act?.request_id).toBe(answer.headers['x-request-id'])
    expect(JSON.stringify(act)).not.toContain('secretname')
  })

  it('do not include exports of the own log and ledger', async () => {
    for (const url of ['/api/log/self/export', '/api/ledger/self/export']) {
      expect((await download(site.user, url)).statusCode).toBe(200)
    }
    expect(await exportsBy(site.user)).toEqual([])
  })

  it('are not sent if they cannot be recorded, and can then be repeated', async () => {
    const url = '/api/audit/ledger/3/export'
    const before = (await exportsBy(site.root)).length
    for (let n = 0; n < 3; n += 1) {
      const append = vi.spyOn(site.core.store, 'append')
      append.mockRejectedValueOnce(new StoreUnavailable('down'))
      const refused = await download(site.root, url)
      append.mockRestore()
      expect(refused.statusCode).toBe(503)
      expect(refused.body).not.toContain('position')
    }
    expect((await download(site.root, url)).statusCode).toBe(200)
    expect(await exportsBy(site.root)).toHaveLength(before + 1)
  })

  it('wait for all read models that the list waits for, so that no name is missing', async () => {
    const waits = vi.spyOn(site.freshness, 'waitFor')
    const { cookie, id } = site.root
    const position = `${await site.head()}`
    const headers = { cookie, 'user-id': String(id), 'x-after-position': position }
    for (const url of ['/api/audit/log', '/api/audit/log/export']) {
      expect((await site.app.inject({ url, headers })).statusCode).toBe(200)
    }
    const [list, exported] = waits.mock.calls.map(([names]) => names)
    expect(list).toContain('channels')
    expect(exported).toEqual(list)
  })

  it('are limited, so that a script cannot fill the event store', async () => {
    const codes = new Set<number>()
    for (let n = 0; n < 62; n += 1) {
      codes.add((await download(site.admin, '/api/audit/ledger/3/export')).statusCode)
    }
    expect([...codes]).toEqual([200, 429])
    expect(await exportsBy(site.admin)).toHaveLength(60)
  })
})
