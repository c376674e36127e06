import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, it } from 'vitest'
import { logBatches, logRows } from '#projections/logs/query.ts'
import type { LogEntry, LogPage, LogStat } from '#read-api/contract/logs.ts'
import { dollarsAt } from '#read-api/logs/export-logs.ts'
import { csvLine } from '#read-api/logs/log-export-formats.ts'
import {
  aCall,
  admitted,
  channelCreated,
  deducted,
  granted,
  NOW,
  releasedCall,
  settledCall,
  tokenCreated,
} from '#test/projections/fixture.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { ADMIN, ALICE, apiFixture, BOB } from './fixture.ts'

const CALLS = 120
/** With them there are more rows than are read at once, and bytes than sockets take unread. */
const OLD_ROWS = 4_500
const BOMB = '=HYPERLINK("x")'

const api = startedOnce(apiFixture)
let admin: Record<string, string>
let alice: Record<string, string>

beforeAll(async () => {
  admin = await api.logIn(ADMIN)
  alice = await api.logIn(ALICE)
  await api.settled(
    await api.append([
      channelCreated(1, '+1 channel'),
      tokenCreated(1, ALICE, BOMB),
      granted(ALICE, 1_000_000),
      ...Array.from({ length: CALLS }, (_, i) => {
        const call = aCall({ userId: i % 9 === 0 ? BOB : ALICE, tokenId: 1 })
        const at = NOW - (CALLS - i) * 1_000
        return [
          admitted(call, at),
          i % 10 === 9 ? releasedCall(call, at) : settledCall(call, i, at),
        ]
      }).flat(),
    ]),
  )
  await api.core.pg.query(
    `insert into read_call_log.log (id, created_at, type, user_id, quota, reason, other)
     select -i, $1, 4, ${ALICE}, 1, 'affiliate', '{"end":"' || repeat('x', 6000) || '"}'
     from generate_series(1, ${OLD_ROWS}) i`,
    [NOW / 1_000 - 86_400],
  )
})

const fileOf = async (path: string, headers: Record<string, string>) => {
  const { statusCode, body, headers: sent } = await api.app.inject({ url: path, headers })
  return { status: statusCode, body, sent }
}
/** The cells of lines none of which has an end within. */
const cells = (line = ''): string[] =>
  [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, cell = '']) => cell)

const objects = (body: string): LogEntry[] =>
  body
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as LogEntry)

describe('a line of CSV', () => {
  it.each(['=', '+', '-', '@', '\t', '\r'])('escapes a formula that begins with %j', (start) => {
    const [cell = ''] = csvLine([`${start}1+1`]).split('\r\n')
    expect(cell.replace(/^"/, '')).toMatch(/^'/)
  })

  it('numbers stay numbers, and quotes, commas and line ends stay inside their cell', () => {
    expect(csvLine([-5, 10n, null, 0, '-4.000000'])).toBe('-5,10,,0,-4.000000\r\n')
    expect(csvLine(['say "a, b"', 'two\nlines', 'plain'])).toBe(
      '"say ""a, b""","two\nlines",plain\r\n',
    )
  })

  it.each([
    ['500000', 1n, '0.000002'],
    ['500000', -750_000n, '-1.500000'],
    ['0.3', 1n, '3.333333'],
    ['none', 250_000n, '0.500000'],
  ])('with QuotaPerUnit %s, a quota of %i is $%s', (perUnit, quota, text) => {
    expect(dollarsAt(perUnit)(quota)).toBe(text)
  })
})

describe('the export of the log', () => {
  it('has every row once, newest first, and adds up to the totals shown', async () => {
    const { status, body, sent } = await fileOf('/api/log/export?zone=Asia/Shanghai', admin)
    expect(status).toBe(200)
    expect(sent['content-type']).toBe('text/csv; charset=utf-8')
    expect(sent['content-disposition']).toBe('attachment; filename="usage.csv"')
    const [header, ...lines] = body.trimEnd().split('\r\n')
    const titles = cells(header)
    const at = (title: string) => titles.indexOf(title)
    const rows = lines.map(cells)
    const ids = rows.map((row) => Number(row[0]))
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a))
    expect(ids).toHaveLength(CALLS + OLD_ROWS + 1)
    const { data } = (await api.get<LogStat>('/api/log/stat', admin)).body
    const spent = rows.filter((row) => row[at('type')] === '2')
    expect(spent.reduce((sum, row) => sum + Number(row[at('quota')]), 0)).toBe(data.quota)
    expect(rows[0]?.[at('time (Asia/Shanghai)')]).toBe('2026-11-21 17:29:57')
    expect(rows[0]?.[at('token')]).toBe(`"'${BOMB.replaceAll('"', '""')}"`)
    expect(rows.find((row) => row[at('channel')] === '1')?.[at('channel_name')]).toBe("'+1 channel")
  })

  it('has call costs in cost_usd, and other amounts with their sign in amount_usd', async () => {
    await api.settled(await api.append([deducted(BOB, 2_000_000)]))
    const { body } = await fileOf('/api/log/export', admin)
    const [header, ...lines] = body.trimEnd().split('\r\n')
    const titles = cells(header)
    const money = (title: string): string[] =>
      lines.map((line) => cells(line)[titles.indexOf(title)] ?? '')
    const [costs, amounts] = [money('cost_usd'), money('amount_usd')]
    const { data } = (await api.get<LogStat>('/api/log/stat', admin)).body
    const spent = costs.reduce((sum, cost) => sum + Number(cost), 0)
    expect(Math.round(spent * 500_000)).toBe(data.quota)
    expect(amounts.filter((amount) => amount !== '0.000002')).toEqual([
      '-4.000000',
      ...Array(CALLS).fill(''),
      '2.000000',
    ])
    expect(costs.filter((cost) => cost !== '')).toHaveLength(CALLS)
  })

  it('reads the same rows and cells as the list', async () => {
    const { db, pg } = api.core
    await pg.query(`insert into read_call_log.log
      (id, created_at, type, user_id, token_id, actor_id, note, reason)
      values (1e9, ${NOW / 1_000}, 2, ${ALICE}, -7, ${ADMIN}, 'sealed:why', 'x')`)
    for (const filter of [{}, { userId: ALICE, type: 2 }]) {
      const read = logBatches(api.core, filter, { withSealed: true })
      const first = await read(Number.MAX_SAFE_INTEGER, 60)
      const rows = [...first, ...(await read(first.at(-1)?.id ?? 0, 40))]
      expect(rows).toEqual(await logRows(db, filter, { offset: 0, limit: 100 }))
      const without = await logBatches(api.core, filter, { withSealed: false })(2 ** 40, 100)
      expect(without).toEqual(rows.map((row) => ({ ...row, clientIp: null, note: null })))
    }
    await pg.query('delete from read_call_log.log where id = 1e9')
  })

  it('has the requested columns in order, and names the available ones on an error', async () => {
    const path = '/api/log/export?type=2&zone=UTC&columns='
    const { body } = await fileOf(`${path}${encodeURIComponent('quota, time,model,quota')}`, admin)
    const [header, first] = body.split('\r\n')
    expect(header).toBe('quota,time (UTC),model')
    expect(cells(first)[1]).toMatch(/^20\d\d-\d\d-\d\d /)
    const own = path.replace('export', 'self/export')
    for (const [url, word] of [
      [`${path}prize`, 'the column “prize” does not exist; available columns: id, time'],
      [`${own}username`, 'the column “username” does not exist'],
      [`${path}model&format=ndjson`, 'applies only to CSV'],
    ] as const) {
      const { status, body: message } = await fileOf(url, { ...admin, 'accept-language': 'en' })
      expect([status, message]).toEqual([400, expect.stringContaining(word)])
    }
  })

  it('has the same rows as the list in NDJSON, with their details as objects', async () => {
    const query = 'type=6&model_name=sim-small'
    const rows = objects((await fileOf(`/api/log/export?format=ndjson&${query}`, admin)).body)
    const { items, total } = (await api.get<LogPage>(`/api/log/?page_size=100&${query}`, admin))
      .body.data
    expect(rows).toHaveLength(total)
    expect(rows.slice(0, 100)).toEqual(
      items.map((row) => ({ ...row, other: JSON.parse(row.other) as object })),
    )
  })

  it('gives users only their own rows without channels, whatever filter they send', async () => {
    const path = '/api/log/self/export?username=bob&channel=7'
    const [header] = (await fileOf(path, alice)).body.split('\r\n')
    for (const title of ['channel', 'channel_name', 'user_id', 'username']) {
      expect(cells(header)).not.toContain(title)
    }
    const { body } = await fileOf(`${path}&format=ndjson`, alice)
    const rows = objects(body)
    expect(new Set(rows.map(({ user_id, channel }) => `${user_id} ${channel}`))).toEqual(
      new Set([`${ALICE} 0`]),
    )
    expect(body).not.toContain('admin_info')
    expect((await fileOf('/api/log/export', alice)).status).toBe(403)
    expect((await fileOf('/api/log/self/export', {})).status).toBe(401)
  })

  it('begins with a byte order mark in Chinese, and has titles even without rows', async () => {
    const zh = { ...admin, 'accept-language': 'zh' }
    const { body } = await fileOf('/api/log/export?username=nobody', zh)
    expect(body).toMatch(/^\uFEFFid,.*content\r\n$/)
    expect((await fileOf('/api/log/export?username=nobody', admin)).body).toMatch(/^id,/)
  })

  it.each([
    ['format=xml', 'format'],
    ['zone=Nowhere/Else', 'zone'],
    ['type=9', 'type'],
    ['start_timestamp=soon', 'start_timestamp'],
  ])('refuses %s and names the field', async (query, field) => {
    const { status, body } = await fileOf(`/api/log/export?${query}`, admin)
    expect(status).toBe(400)
    expect((JSON.parse(body) as { message: string }).message).toContain(field)
  })

  it('allows two exports per user, and frees a permit when the client disconnects', async () => {
    await api.app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = api.app.server.address() as AddressInfo
    const path = '/api/log/self/export?format=ndjson'
    const open = async () => {
      const request = get({ port, path, headers: alice })
      const [answer] = await once(request, 'response')
      return { request, answer }
    }
    const [first, second] = [await open(), await open()]
    const refused = await fileOf(path, alice)
    expect([refused.status, refused.sent['retry-after']]).toEqual([429, '5'])
    expect((await fileOf('/api/log/export?username=nobody', admin)).status).toBe(200)
    for (const { request } of [first, second]) request.destroy()
    await expect.poll(async () => (await fileOf(`${path}&type=1`, alice)).status).toBe(200)
  })

  it('answers a HEAD request with 404', async () => {
    for (const url of ['/api/log/export', '/api/log/self/export']) {
      const { statusCode } = await api.app.inject({ method: 'HEAD', url, headers: admin })
      expect(statusCode).toBe(404)
    }
  })

  it('is aborted when the user’s session ends', async () => {
    const { port } = api.app.server.address() as AddressInfo
    const headers = await api.logIn(ALICE)
    const request = get({ port, path: '/api/log/self/export?format=ndjson', headers })
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    expect(answer.statusCode).toBe(200)
    const { sessions } = api.app.gate
    const session = await sessions.find(headers.cookie?.replace('session=', '') ?? '')
    await sessions.end(session?.hash ?? '')
    await expect(answer.toArray()).rejects.toThrow('aborted')
  })

  it('is refused once the process stops, but a running export completes', async () => {
    const { port } = api.app.server.address() as AddressInfo
    const path = '/api/log/self/export?format=ndjson'
    const request = get({ port, path, headers: alice })
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    api.drain()
    const refused = await fileOf(path, alice)
    expect([refused.status, JSON.parse(refused.body).code]).toEqual([503, 'Draining'])
    const chunks = (await answer.toArray()) as Buffer[]
    expect(objects(Buffer.concat(chunks).toString()).length).toBeGreaterThan(OLD_ROWS)
  })
})
