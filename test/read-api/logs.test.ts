import { beforeAll, describe, expect, it } from 'vitest'
import type { LogEntry, LogOther, LogPage, LogStat, UsagePoint } from '#read-api/contract/logs.ts'
import type { SiteUsage, TokenUsagePoint } from '#read-api/contract/usage.ts'
import {
  aCall,
  admitted,
  channelCreated,
  costing,
  deducted,
  type Given,
  granted,
  interruptedCall,
  NOW,
  releasedCall,
  settledCall,
  tokenCreated,
  userCreated,
} from '#test/projections/fixture.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { ADMIN, ALICE, apiFixture, BOB } from './fixture.ts'

const api = startedOnce(apiFixture)
let admin: Record<string, string>
let alice: Record<string, string>

const HOUR_MS = 3_600_000

function calls(userId: number, tokenId: number, count: number): Given[] {
  return Array.from({ length: count }, (_, i) => {
    const call = aCall({ userId, tokenId, model: i % 3 === 0 ? 'sim-large' : 'sim-small' })
    const at = NOW - (count - i) * 60_000 - HOUR_MS
    return [admitted(call, at), i % 10 === 9 ? releasedCall(call, at) : settledCall(call, i, at)]
  }).flat()
}

beforeAll(async () => {
  admin = await api.logIn(ADMIN)
  alice = await api.logIn(ALICE)
  await api.settled(
    await api.append([
      channelCreated(1, 'simulated'),
      channelCreated(2, 'failing'),
      tokenCreated(1, ALICE, 'laptop'),
      tokenCreated(2, BOB, 'laptop'),
      tokenCreated(3, BOB, 'phone'),
      granted(ALICE, 1_000_000),
      ...calls(ALICE, 1, 120),
      ...calls(BOB, 2, 60),
      ...calls(BOB, 3, 30),
      deducted(ALICE, 1_234),
    ]),
  )
})

const page = async (path: string, headers: Record<string, string>): Promise<LogPage> => {
  const { status, body } = await api.get<LogPage>(path, headers)
  expect(status, body.message).toBe(200)
  return body.data
}

/** A range of so many seconds before and after the fixture's moment. */
const within = (seconds: number): string =>
  [NOW / 1_000 - seconds, NOW / 1_000 + seconds]
    .map((at, index) => `${index === 0 ? 'start' : 'end'}_timestamp=${Math.floor(at)}`)
    .join('&')

const everything = async (path: string, headers: Record<string, string>): Promise<LogEntry[]> => {
  const rows: LogEntry[] = []
  for (let p = 0; ; p += 1) {
    const { items } = await page(`${path}&p=${p}&page_size=7`, headers)
    if (items.length === 0) return rows
    rows.push(...items)
  }
}

describe('the log', () => {
  it('shows users only their own rows, and admins the rows of all users', async () => {
    const own = await page('/api/log/self/?page_size=100', alice)
    expect(own.total).toBe(122)
    expect(new Set(own.items.map(({ user_id }) => user_id))).toEqual(new Set([ALICE]))
    expect((await page('/api/log?page_size=100', admin)).total).toBe(212)
    expect((await api.get('/api/log/', alice)).status).toBe(403)
    expect((await api.get('/api/log/self/')).status).toBe(401)
  })

  it('shows the channel and the attempts of a call only to admins', async () => {
    const [forAdmin] = (await page('/api/log/?type=2&username=alice', admin)).items
    const [forAlice] = (await page('/api/log/self/?type=2', alice)).items
    expect(forAdmin).toMatchObject({ channel: 1, channel_name: 'simulated', username: 'alice' })
    expect(forAlice).toMatchObject({ channel: 0, channel_name: '', token_name: 'laptop' })
    const seen = JSON.parse(forAdmin?.other ?? '') as LogOther
    expect(seen.admin_info?.use_channel).toEqual([1])
    expect(seen.price).toMatchObject({ model: '1.25', completion: '4', group: '1', list: '3' })
    expect(seen).toMatchObject({ frt: 320, duration_ms: 1500, cache_tokens: 600, end: 'done' })
    expect(forAlice?.other).not.toMatch(/admin_info|channel/)
    expect(forAlice?.client_ip).toBe('203.0.113.x')
  })

  it('has rows that add up exactly to the balance', async () => {
    const rows = await everything('/api/log/self/?', alice)
    const balance = rows.reduce((sum, { type, quota }) => sum + (type === 2 ? -quota : quota), 0)
    const self = await api.get<{ quota: number; used_quota: number }>('/api/user/self', alice)
    expect(self.body.data.quota).toBe(balance)
    const stat = await api.get<LogStat>('/api/log/self/stat', alice)
    expect(stat.body.data.quota).toBe(self.body.data.used_quota)
  })

  it.each([
    ['?', (): boolean => true],
    ['?type=6', ({ type }: LogEntry): boolean => type === 6],
    ['?model_name=sim-large', (row: LogEntry): boolean => row.model_name === 'sim-large'],
    ['?token_name=laptop', (row: LogEntry): boolean => row.token_name === 'laptop'],
    ['?username=bob&type=2', (row: LogEntry): boolean => row.user_id === BOB && row.type === 2],
    ['?username=bob&token_name=phone', (row: LogEntry): boolean => row.token_name === 'phone'],
    ['?channel=1', (row: LogEntry): boolean => row.channel === 1],
    ['?username=nobody', (): boolean => false],
    [
      `?start_timestamp=${NOW / 1_000 - 6_000}&end_timestamp=${NOW / 1_000 - 4_000}`,
      ({ created_at: at }: LogEntry): boolean => at >= NOW / 1e3 - 6e3 && at <= NOW / 1e3 - 4e3,
    ],
  ])('pages through %s in the order of SQL, without gap or repeat', async (query, isListed) => {
    const all = await everything('/api/log/?', admin)
    const expectedRows = all.filter(isListed).map(({ id }) => id)
    const rows = await everything(`/api/log/${query}`, admin)
    expect(rows.map(({ id }) => id)).toEqual(expectedRows)
    expect((await page(`/api/log/${query}`, admin)).total).toBe(expectedRows.length)
    const deep = await page(`/api/log/${query}&p=3&page_size=5`, admin)
    expect(deep.items.map(({ id }) => id)).toEqual(expectedRows.slice(15, 20))
    const stat = await api.get<LogStat>(`/api/log/stat${query}`, admin)
    const spent = all.filter(isListed).filter(({ type }) => type === 2 || query === '?type=6')
    expect(stat.body.data.count).toBe(spent.length)
    expect(stat.body.data.quota).toBe(spent.reduce((sum, { quota }) => sum + quota, 0))
  })

  it('returns the rate of matching calls in the last minute, also by type', async () => {
    const [spent, lost] = [aCall({ userId: BOB }), aCall({ userId: BOB })]
    const at = api.core.now()
    await api.settled(
      await api.append([
        ...[admitted(spent, at), settledCall(spent, 7, at)],
        ...[admitted(lost, at), releasedCall(lost, at)],
      ]),
    )
    const rates = async (query: string): Promise<[number, number]> => {
      const { rpm, tpm } = (await api.get<LogStat>(`/api/log/stat${query}`, admin)).body.data
      return [rpm, tpm]
    }
    expect(await rates('')).toEqual([1, 1_500])
    expect(await rates('?type=2')).toEqual([1, 1_500])
    expect(await rates('?type=6')).toEqual([1, 0])
    expect(await rates('?type=1')).toEqual([0, 0])
    expect(await rates('?type=2&username=alice')).toEqual([0, 0])
  })

  it('does not shift a page when newer rows arrive', async () => {
    const first = await page('/api/log/self/?p=0&page_size=10', alice)
    const before = await page('/api/log/self/?p=1&page_size=10', alice)
    await api.settled(await api.append([granted(ALICE, 1), granted(ALICE, 1)]))
    const after = await page('/api/log/self/?p=1&page_size=10', alice)
    expect(after.items).toEqual(before.items)
    expect(after.items[0]?.id).toBeLessThan(first.items[9]?.id ?? 0)
  })

  it('does not shift a page when its time range moves with the clock', async () => {
    let now = Math.floor(api.core.now() / 1_000)
    const next = async (p: number): Promise<number[]> => {
      const range = `start_timestamp=${now - 90 * 86_400}&end_timestamp=${now + 3_600}`
      const { items } = await page(`/api/log/self/?type=2&${range}&p=${p}&page_size=10`, alice)
      return items.map(({ id }) => id)
    }
    const expectedRows = (await page('/api/log/self/?type=2&page_size=30', alice)).items
    const got = await next(0)
    for (const p of [1, 2]) {
      now += 1
      const call = aCall({ userId: ALICE, tokenId: 1 })
      await api.settled(await api.append([admitted(call), settledCall(call, 5)]))
      got.push(...(await next(p)))
    }
    expect(got).toEqual(expectedRows.map(({ id }) => id))
  })

  it('sums usage by hour and model', async () => {
    const { body } = await api.get<UsagePoint[]>('/api/data/self/', alice)
    const stat = await api.get<LogStat>('/api/log/self/stat', alice)
    expect(body.data.reduce((sum, { quota }) => sum + quota, 0)).toBe(stat.body.data.quota)
    expect(body.data.every(({ created_at }) => created_at % 3_600 === 0)).toBe(true)
    const site = await api.get<UsagePoint[]>('/api/data/?username=bob', admin)
    expect(site.body.data.reduce((sum, { count }) => sum + count, 0)).toBe(82)
  })

  it('returns the site’s totals, its top users and models, and the lag to admins', async () => {
    const site = (await api.get<SiteUsage>(`/api/data/site?${within(8 * 86_400)}`, admin)).body.data
    const stat = (await api.get<LogStat>('/api/log/stat', admin)).body.data
    const { count, quota, token_used, failed, users } = site.totals
    expect({ count, quota }).toEqual({ count: stat.count, quota: stat.quota })
    expect(token_used).toBe(stat.prompt_tokens + stat.completion_tokens)
    expect([users, failed > 0]).toEqual([site.top_users.length, true])
    for (const top of [site.top_users, site.top_models]) {
      const spent = top.map((row) => row.quota)
      expect(spent).toEqual(spent.toSorted((one, other) => other - one))
      expect(spent.reduce((sum, one) => sum + one, 0)).toBe(quota)
    }
    expect(site.top_users.map(({ username }) => username)).toContain('bob')
    expect(site.lag).toMatchObject({ behind: 0 })
    const rows = await everything('/api/log/?type=2', admin)
    expect(rows).toHaveLength(count)
    const others = rows.map(({ other }) => JSON.parse(other) as LogOther)
    const sumOf = (read: (other: LogOther) => number) =>
      others.reduce((sum, other) => sum + read(other), 0)
    const { input_tokens, cache_read_tokens, cache_saved } = site.totals
    expect(input_tokens).toBe(stat.prompt_tokens)
    expect(cache_read_tokens).toBe(sumOf(({ cache_tokens = 0 }) => cache_tokens))
    expect(cache_saved).toBe(sumOf(({ cache_saved: saved = 0 }) => saved))
    expect(cache_saved).toBeGreaterThan(0)
    const short = (await api.get<SiteUsage>(`/api/data/site?${within(7_200)}`, admin)).body.data
    const ofUsers = short.top_users.reduce((sum, row) => sum + row.quota, 0)
    expect([short.totals.quota, short.totals.quota < quota]).toEqual([ofUsers, true])
  })

  it('sums usage by token and day to the same total', async () => {
    const points = (await api.get<TokenUsagePoint[]>('/api/data/self/tokens', alice)).body.data
    const stat = (await api.get<LogStat>('/api/log/self/stat', alice)).body.data
    expect(points.reduce((sum, { quota }) => sum + quota, 0)).toBe(stat.quota)
    expect(points.every(({ created_at }) => created_at % 86_400 === 0)).toBe(true)
    expect(points.some(({ token_id }) => token_id > 0)).toBe(true)
  })

  it('describes its rows in the caller’s language', async () => {
    const zh = await page('/api/log/self/?type=6&page_size=1', {
      ...alice,
      'accept-language': 'zh',
    })
    const en = await page('/api/log/self/?type=6&page_size=1', alice)
    expect([zh.items[0]?.content, en.items[0]?.content]).toEqual([
      '无可用渠道',
      'No available channel',
    ])
  })
})

it('the totals of the log include every kind of row, also changes of a user’s group', async () => {
  const DAVE = 60
  const moved = (group: string): Given => {
    const data = { userId: DAVE, group }
    return { stream: `user-${DAVE}`, type: 'UserGroupChanged', v: 1, data }
  }
  const rows = [granted(DAVE, 9), moved('vip'), moved('inner'), ...calls(DAVE, 60, 10)]
  await api.settled(await api.append([userCreated(DAVE, 'dave'), ...rows]))
  const counted = async (query: string): Promise<number[]> => {
    const path = `/api/log/?${query}`
    return [(await everything(path, admin)).length, (await page(path, admin)).total]
  }
  const own = 'username=dave&'
  const range = `start_timestamp=${NOW / 1_000 - 90_000}&`
  for (const given of [own, `${own}${range}`]) {
    expect([given, await counted(given)]).toEqual([given, [13, 13]])
    expect([given, await counted(`${given}type=3`)]).toEqual([given, [3, 3]])
    expect([given, await counted(`${given}group=vip`)]).toEqual([given, [1, 1]])
    expect([given, await counted(`${given}group=default&type=2`)]).toEqual([given, [9, 9]])
  }
  expect(await counted('group=vip')).toEqual([1, 1])
  expect(await counted('group=inner&type=3')).toEqual([1, 1])
})

it('a token name finds the calls of all tokens with that name, even of 1 100', async () => {
  const CAROL = 50
  const ids = Array.from({ length: 1_100 }, (_, n) => 1_000 + n)
  const [oldest = 0, second = 0] = ids
  for (const from of [0, 400, 800]) {
    const some = ids.slice(from, from + 400)
    await api.append(some.map((id) => tokenCreated(id, CAROL, 'one of many')))
  }
  await api.settled(await api.append([...calls(CAROL, oldest, 3), ...calls(CAROL, second, 2)]))
  const path = '/api/log/?token_name=one%20of%20many&page_size=2'
  expect((await page(path, admin)).total).toBe(5)
  expect((await page(`${path}&p=2`, admin)).items).toHaveLength(1)
  const stat = await api.get<LogStat>('/api/log/stat?token_name=one%20of%20many', admin)
  expect(stat.body.data.count).toBe(5)
})

it('the provider’s cost of a call is visible only to admins, and only if known', async () => {
  const FRED = 80
  const [known, unknown] = [0, 1].map(() => aCall({ userId: FRED, tokenId: 80 }))
  if (known === undefined || unknown === undefined) throw new Error('two calls')
  const ends = [costing(settledCall(known, 30), 12), settledCall(unknown, 30)]
  const facts = [userCreated(FRED, 'fred'), admitted(known), admitted(unknown), ...ends]
  await api.settled(await api.append(facts))
  const others = (items: LogEntry[]) => items.map(({ other }) => JSON.parse(other) as LogOther)
  const seen = others((await page('/api/log/?username=fred', admin)).items)
  expect(seen.map(({ cost, cost_ratio }) => [cost, cost_ratio])).toEqual([
    [undefined, undefined],
    [12, '0.6'],
  ])
  const own = await page('/api/log/self/', await api.logIn(FRED))
  expect(JSON.stringify(own)).not.toMatch(/cost/)
})

it('the log has no duration for a call whose relay died', async () => {
  const ERIN = 70
  const call = aCall({ userId: ERIN, tokenId: 1 })
  await api.settled(
    await api.append([userCreated(ERIN, 'erin'), admitted(call), interruptedCall(call, 7)]),
  )
  const [row] = (await page('/api/log/?username=erin', admin)).items
  expect(row).toMatchObject({ use_time: 0, quota: 7 })
  expect(JSON.parse(row?.other ?? '')).toMatchObject({ end: 'interrupted' })
  expect(row?.other).not.toContain('duration_ms')
  const { body } = await api.app.inject({
    url: '/api/log/export?username=erin',
    headers: admin,
  })
  const [titles = [], cells = []] = body.split('\n').map((line) => line.trim().split(','))
  expect(cells[titles.indexOf('duration_ms')]).toBe('')
})

describe('calls with failed attempts on a channel', () => {
  const GINA = 90
  const failedAt = (channelId: number) => ({
    channelId,
    status: 503,
    error: 'status',
    latencyMs: 9,
  })
  /** A call whose id has a time before the fixture's moment. */
  const callNo = (no: number) =>
    aCall({ call: `0199aa00-0000-7000-8000-00000000000${no}`, userId: GINA, tokenId: 90 })
  const [answered, lost, other] = [callNo(1), callNo(2), callNo(3)]
  const withAttempts = (end: Given, attempts: readonly object[]): Given => ({
    ...end,
    data: { ...(end.data as object), attempts },
  })
  const success = { channelId: 1, status: 200, error: null, latencyMs: 900 }
  const ids = ({ items }: LogPage) => items.map(({ request_id }) => request_id)
  let gina: Record<string, string>

  beforeAll(async () => {
    await api.settled(
      await api.append([
        ...[userCreated(GINA, 'gina'), tokenCreated(90, GINA, 'own')],
        ...[admitted(answered), admitted(lost), admitted(other)],
        withAttempts(settledCall(answered, 30), [failedAt(2), success]),
        withAttempts(releasedCall(lost), [failedAt(1), failedAt(2)]),
        settledCall(other, 5),
      ]),
    )
    gina = await api.logIn(GINA)
  })

  it('are listed with their failed channels, even if another channel answered', async () => {
    const found = await page('/api/log/?failed_channel=2', admin)
    expect([ids(found), found.total]).toEqual([[lost.call, answered.call], 2])
    const failed = found.items.map((row) => (JSON.parse(row.other) as LogOther).failed_channels)
    expect(failed).toEqual([[1, 2], [2]])
    expect(ids(await page('/api/log/?failed_channel=1', admin))).toEqual([lost.call])
    expect(ids(await page('/api/log/?failed_channel=2&type=6', admin))).toEqual([lost.call])
    expect(ids(await page('/api/log/?failed_channel=2&channel=1', admin))).toEqual([answered.call])
    expect((await page('/api/log/?failed_channel=3', admin)).items).toEqual([])
    const paged = await page('/api/log/?failed_channel=2&p=1&page_size=1', admin)
    expect([ids(paged), paged.total]).toEqual([[answered.call], 2])
    const sorted = await page('/api/log/?failed_channel=2&sort=quota&order=desc', admin)
    expect(ids(sorted)).toEqual([answered.call, lost.call])
    for (const no of ['', '0']) {
      const all = await page(`/api/log/?username=gina&failed_channel=${no}`, admin)
      expect(all.total).toBe(3)
    }
  })

  it('are all counted in the totals, as is a failed call found by its id', async () => {
    const stat = async (query: string) => {
      const { data } = (await api.get<LogStat>(`/api/log/stat?${query}`, admin)).body
      return [data.count, data.quota]
    }
    expect(await stat('failed_channel=2')).toEqual([2, 30])
    expect(await stat('failed_channel=2&type=2')).toEqual([1, 30])
    expect(await stat(`request_id=${lost.call}`)).toEqual([1, 0])
    expect(await stat(`request_id=${lost.call}&type=2`)).toEqual([0, 0])
    expect(await stat(`request_id=${answered.call}`)).toEqual([1, 30])
    expect(await stat('username=gina')).toEqual([2, 35])
    const own = await api.get<LogStat>(`/api/log/self/stat?request_id=${lost.call}`, gina)
    expect(own.body.data.count).toBe(1)
  })

  it('are exported with the same filter, and with the channels that failed', async () => {
    const url = '/api/log/export?format=ndjson&failed_channel=2'
    const { body } = await api.app.inject({ url, headers: admin })
    const rows = body
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(rows.map((row) => [row.request_id, row.other.failed_channels])).toEqual([
      [lost.call, [1, 2]],
      [answered.call, [2]],
    ])
  })

  it('look like other calls to their user, who cannot filter by failed channel', async () => {
    const whole = await page('/api/log/self/', gina)
    expect(whole.total).toBe(3)
    for (const channel of [1, 2, 3]) {
      expect(await page(`/api/log/self/?failed_channel=${channel}`, gina)).toEqual(whole)
      const stat = await api.get<LogStat>(`/api/log/self/stat?failed_channel=${channel}`, gina)
      expect(stat.body.data).toMatchObject({ count: 2, quota: 35 })
      const url = `/api/log/self/export?format=ndjson&failed_channel=${channel}`
      const { body } = await api.app.inject({ url, headers: gina })
      expect(body.trim().split('\n')).toHaveLength(3)
      expect(body).not.toMatch(/failed_channel/)
      expect((await api.get(`/api/log/?failed_channel=${channel}`, gina)).status).toBe(403)
    }
    expect(JSON.stringify(whole)).not.toMatch(/failed_channel|admin_info/)
  })
})
