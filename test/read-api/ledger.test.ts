import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { AccountCommand } from '#domain/accounts/commands.ts'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import { playgroundTokenId } from '#domain/shared/playground-token-id.ts'
import type {
  Account,
  BalanceAt,
  LedgerItem,
  LedgerPage,
  SiteMonth,
  Statement,
  UserLedgerPage,
} from '#read-api/contract/ledger.ts'
import { newCallId } from '#relay/pipeline/http-exchange.ts'
import { admitCall, releaseCall, settleCall, used } from '#test/domain/accounts/facts.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { PASSWORD, seededFixture } from '#test/write-api/write-fixture.ts'

const site = startedOnce(seededFixture)
const JANUARY = Date.UTC(2026, 0, 31, 23, 59, 58)
const month = (text: string) => `month=${text}`
let userId = 0
let position = 0

async function handle(command: AccountCommand, at: number): Promise<void> {
  const context = { actor: 'user:1', cause: null, at }
  const stream = accountStream(userId)
  const outcome = await site.core.actors.handle(accountDecider, stream, command, context)
  if (!outcome.isDone) throw new Error(outcome.error.code)
  position = outcome.position
}

const grant = (amount: bigint, at: number) =>
  handle({ type: 'GrantQuota', userId, grantId: randomUUID(), amount, reason: 'admin' }, at)

/** A call that holds 40 and costs one quota per input token. */
async function call(input: number, at: number, isEnded = true): Promise<string> {
  const id = newCallId(at)
  const own = { userId, call: id, tokenId: playgroundTokenId(userId) }
  await handle({ ...admitCall({ call: id, hold: 40n }), ...own, leaseUntil: at + 60_000 }, at)
  const usage = used({ inputUncached: input })
  if (isEnded) await handle(settleCall({ call: id, usage }), at)
  return id
}

/** The ledger of the account as auditors read it. */
async function read<T>(path: string, call = site.root.call): Promise<T> {
  await site.freshness.waitFor(['ledger', 'balances', 'call-log', 'users'], position, 10_000)
  const { status, data, message } = await call<T>('GET', path)
  if (status !== 200) throw new Error(`${status} ${message}`)
  return data
}
const ledger = (query = '') => read<LedgerPage>(`/api/audit/ledger/${userId}?${query}`)

beforeAll(async () => {
  userId = site.user.id
  const before = await site.root.call<{ quota: number }>('GET', `/api/user/${userId}`)
  expect(before.data.quota).toBe(0)
  await grant(1_000n, JANUARY)
  await call(10, JANUARY)
  await grant(500n, JANUARY + 2_000)
  await call(25, JANUARY + 3_000)
  await call(1, JANUARY + 4_000, false)
  const deduction = { deductionId: randomUUID(), amount: 65n, reason: 'admin' as const }
  await handle({ type: 'DeductQuota', userId, ...deduction }, JANUARY + 5_000)
})

describe('the ledger of an account', () => {
  it('lists each movement with the figures after it, newest first, and no holds', async () => {
    const { opening, closing, items, next_cursor } = await ledger()
    const rows = items.map(({ type, amount, total, held }) => [type, amount, total, held])
    expect(rows).toEqual([
      ['deduction', -65, 1_400, 40],
      ['call', -25, 1_465, 0],
      ['grant', 500, 1_490, 0],
      ['call', -10, 990, 0],
      ['grant', 1_000, 1_000, 0],
    ])
    expect(opening).toEqual({ total: 0, balance: 0, held: 0 })
    expect(closing).toEqual({ total: 1_400, balance: 1_360, held: 40 })
    expect(next_cursor).toBe(null)
    expect(items[0]).toMatchObject({ actor_id: 1, reason: 'admin' })
  })

  it('names its user to auditors', async () => {
    const path = `/api/audit/ledger/${userId}?limit=1`
    const { data: user } = await site.root.call<{ username: string }>('GET', `/api/user/${userId}`)
    const page = await read<UserLedgerPage>(path)
    expect(page.username).toBe(user.username)
    expect(page.items).toMatchObject([{ actor_id: 1, actor_name: 'root' }])
    const own = await read<LedgerPage>('/api/ledger/self', site.user.call)
    expect(own.items.map(({ actor_name }) => actor_name)).toEqual(own.items.map(() => ''))
  })

  it('is found among all accounts by the name or the id of its user', async () => {
    const accounts = async (query: string) => {
      const path = `/api/audit/accounts?${query}`
      return await read<{ items: Account[]; next_cursor: number | null }>(path)
    }
    const { data: user } = await site.root.call<{ username: string }>('GET', `/api/user/${userId}`)
    const own = { user_id: userId, username: user.username, total: 1_400, balance: 1_360, held: 40 }
    expect((await accounts(`search=${userId}`)).items).toEqual([own])
    const part = encodeURIComponent(user.username.slice(1).toUpperCase())
    expect((await accounts(`search=${part}`)).items).toContainEqual(own)
    expect((await accounts('search=%25')).items).toEqual([])
    const all = (await accounts('limit=100')).items.map((account) => account.user_id)
    const paged: number[] = []
    for (let cursor: number | null = null, isFirst = true; isFirst || cursor !== null; ) {
      const page = await accounts(`limit=1${cursor === null ? '' : `&cursor=${cursor}`}`)
      paged.push(...page.items.map((account) => account.user_id))
      isFirst = false
      cursor = page.next_cursor
    }
    expect(paged).toEqual(all)
    expect(all).toEqual([...all].sort((a, b) => b - a))
    const wrong = await site.root.call('GET', '/api/audit/accounts?cursor=x')
    expect(wrong).toMatchObject({ status: 400, message: expect.stringContaining('cursor') })
  })

  it('is read page by page, and by type', async () => {
    const first = await ledger('limit=2')
    const second = await ledger(`limit=2&cursor=${first.next_cursor}`)
    const third = await ledger(`limit=2&cursor=${second.next_cursor}`)
    const amounts = [first, second, third].flatMap(({ items }) => items.map((item) => item.amount))
    expect(amounts).toEqual([-65, -25, 500, -10, 1_000])
    expect(third.next_cursor).toBe(null)
    const calls = await ledger('types=call,refund')
    expect(calls.items.map(({ total }) => total)).toEqual([1_465, 990])
    expect((await ledger('types=grant&limit=1')).items.map(({ amount }) => amount)).toEqual([500])
  })

  it('has opening and closing figures of a period that follow those of the next one', async () => {
    const february = Date.UTC(2026, 1) / 1_000
    const before = await ledger(`to=${february}`)
    const after = await ledger(`from=${february}`)
    expect(before.closing).toEqual({ total: 990, balance: 990, held: 0 })
    expect(after.opening).toEqual(before.closing)
    expect(after.items).toHaveLength(3)
    expect(before.items).toHaveLength(2)
  })

  it('has the holds at both ends of a period, although holds are no movements', async () => {
    const second = Math.floor((JANUARY + 4_000) / 1_000) + 1
    // The call of this second is open. The deduction after it is not in the period.
    const before = await ledger(`to=${second}`)
    expect(before.closing).toEqual({ total: 1_465, balance: 1_425, held: 40 })
    const after = await ledger(`from=${second}`)
    expect(after.opening).toEqual(before.closing)
    const id = await call(1, JANUARY + 6_000, false)
    const now = await ledger()
    expect(now.closing).toEqual({ total: 1_400, balance: 1_320, held: 80 })
    const { balance, held } = await read<BalanceAt>(`/api/audit/balance/${userId}`)
    expect({ balance, held }).toEqual({ balance: 1_320, held: 80 })
    await handle(releaseCall({ call: id }), JANUARY + 7_000)
    expect((await ledger()).closing).toEqual({ total: 1_400, balance: 1_360, held: 40 })
  })

  it('names the field of a bad request, and does not know other users', async () => {
    const { call } = site.root
    const wrong = await call('GET', `/api/audit/ledger/${userId}?types=call,none`)
    expect([wrong.status, wrong.message]).toEqual([400, expect.stringContaining('types')])
    expect((await call('GET', '/api/audit/ledger/999')).status).toBe(404)
    expect((await call('GET', `/api/audit/statement/${userId}?month=2026-13`)).status).toBe(400)
    expect((await call('GET', `/api/audit/balance/${userId}?at=yesterday`)).status).toBe(400)
  })

  it('refuses a period that ends before it begins, and answers an empty one', async () => {
    const own = '/api/ledger/self'
    const audited = `/api/audit/ledger/${userId}`
    for (const path of [own, `${own}/export`, audited, `${audited}/export`]) {
      const call = path.startsWith(own) ? site.user.call : site.root.call
      const reversed = await call('GET', `${path}?from=200&to=100`)
      expect([path, reversed.status]).toEqual([path, 400])
      expect(reversed.message).toMatch(/\bto\b/)
    }
    const { items, opening, closing } = await ledger('from=100&to=100')
    expect([items, opening]).toEqual([[], closing])
    const wrong = await site.user.call('GET', `${own}?types=foo`)
    expect(wrong).toMatchObject({ status: 400, message: expect.stringContaining('types') })
  })

  it('is shown to its owner without channels', async () => {
    const own = await read<LedgerPage>('/api/ledger/self', site.user.call)
    expect(own.closing.total).toBe(1_400)
    expect(own.items.every(({ channel_id }) => channel_id === 0)).toBe(true)
    const audited = await ledger('types=call')
    expect(audited.items.every(({ channel_id }) => channel_id > 0)).toBe(true)
  })
})

describe('an export of the ledger', () => {
  it('has all rows as NDJSON or CSV', async () => {
    const headers = { cookie: site.root.cookie, 'user-id': '1' }
    const url = `/api/audit/ledger/${userId}/export`
    const ndjson = await site.app.inject({ url: `${url}?format=ndjson`, headers })
    const rows = ndjson.body.trimEnd().split('\n')
    const items = rows.map((line) => JSON.parse(line) as LedgerItem)
    expect(items).toEqual((await ledger()).items)
    const csv = await site.app.inject({ url: `${url}?types=grant`, headers })
    expect(csv.headers['content-type']).toContain('text/csv')
    const [head, ...lines] = csv.body.trimEnd().split('\r\n')
    expect(head?.split(',').slice(0, 4)).toEqual(['position', 'revision', 'created_at', 'type'])
    expect(lines).toHaveLength(2)
  })
})

describe('a statement', () => {
  it('has the sums of the month between its opening and closing figures', async () => {
    const path = `/api/audit/statement/${userId}?`
    const january = await read<Statement>(`${path}${month('2026-01')}`)
    const february = await read<Statement>(`${path}${month('2026-02')}`)
    expect(january.by_type).toEqual([
      { type: 'call', count: 1, amount: -10 },
      { type: 'grant', count: 1, amount: 1_000 },
    ])
    expect(february.opening).toEqual(january.closing)
    expect(february.closing.total).toBe(1_400)
    const sum = (parts: readonly { amount: number }[]) =>
      parts.reduce((total, { amount }) => total + amount, 0)
    for (const { opening, closing, by_type, by_day } of [january, february]) {
      expect(opening.total + sum(by_type)).toBe(closing.total)
      expect(sum(by_day)).toBe(sum(by_type))
    }
  })

  it('lists each movement of the month once, page by page, as the ledger does', async () => {
    const { items } = await ledger('limit=100')
    let movements = 0
    for (const name of ['2026-01', '2026-02']) {
      const path = `/api/audit/statement/${userId}?${month(name)}&limit=1`
      const listed: LedgerItem[] = []
      for (let cursor: number | null = null, isFirst = true; isFirst || cursor !== null; ) {
        const more: string = cursor === null ? '' : `&cursor=${cursor}`
        const page: Statement = await read<Statement>(`${path}${more}`)
        expect(page.items).toHaveLength(1)
        listed.push(...page.items)
        const change = listed.reduce((total, { amount }) => total + amount, 0)
        if (page.next_cursor === null) {
          expect(page.opening.total + change).toBe(page.closing.total)
          expect(listed[0]?.total).toBe(page.closing.total)
          const calls = listed.filter(({ type }) => type === 'call')
          const sum = (ofCalls: readonly { amount: number }[]) =>
            ofCalls.reduce((total, { amount }) => total + amount, 0)
          expect(page.calls.reduce((all, { count }) => all + count, 0)).toBe(calls.length)
          expect(sum(page.calls)).toBe(sum(calls))
        }
        isFirst = false
        cursor = page.next_cursor
      }
      const positions = listed.map(({ position }) => position)
      expect(listed).toEqual(items.filter(({ position }) => positions.includes(position)))
      movements += listed.length
    }
    expect(movements).toBe(items.length)
    const own = await read<Statement>(
      `/api/ledger/self/statement?${month('2026-01')}`,
      site.user.call,
    )
    expect(own.items.length).toBeGreaterThan(0)
    expect(own.items.every(({ channel_id }) => channel_id === 0)).toBe(true)
  })

  it('of the site sums up all accounts', async () => {
    const february = await read<SiteMonth>(`/api/audit/site-month?${month('2026-02')}`)
    expect(february).toMatchObject({ granted: 500, charged: -25, sold: 0, refunded: 0 })
    expect(february.by_model).toEqual([{ model: 'm', count: 1, amount: -25 }])
  })
})

describe('the balance as of a moment', () => {
  it('is that of the last event until then, holds included', async () => {
    const at = (text: string | number) => read<BalanceAt>(`/api/audit/balance/${userId}?at=${text}`)
    expect(await at('')).toMatchObject({ total: 1_400, balance: 1_360, held: 40 })
    const time = new Date(JANUARY + 4_000).toISOString()
    expect(await at(time)).toMatchObject({ total: 1_465, balance: 1_425, held: 40 })
    expect(await at(new Date(JANUARY - 1).toISOString())).toMatchObject({ total: 0, position: 0 })
    const events = await site.core.store.readStream(accountStream(userId))
    let state = accountDecider.initialState()
    for (const event of events) {
      state = accountDecider.evolve(state, event as never)
      const { balance, held } = await at(event.position)
      expect([balance, held]).toEqual([Number(state.balance), Number(state.held)])
    }
  })
})

describe('the ledger as of a moment', () => {
  it('ends with the balance of that moment and lists nothing later', async () => {
    const all = await ledger('limit=100')
    const events = await site.core.store.readStream(accountStream(userId))
    for (const { position: at } of events) {
      const { closing, items } = await ledger(`at=${at}&limit=100`)
      const { total, balance, held } = await read<BalanceAt>(
        `/api/audit/balance/${userId}?at=${at}`,
      )
      expect(closing).toEqual({ total, balance, held })
      expect(items).toEqual(all.items.filter((item) => item.position <= at))
    }
  })

  it('is that of a time too, also for its owner, page by page and in exports', async () => {
    const at = new Date(JANUARY + 2_000).toISOString()
    const { items, closing, next_cursor: cursor } = await ledger(`at=${at}&limit=2`)
    expect(items.map(({ amount }) => amount)).toEqual([500, -10])
    expect(closing.total).toBe(1_490)
    const rest = await ledger(`at=${at}&limit=2&cursor=${cursor}`)
    expect(rest.items.map(({ amount }) => amount)).toEqual([1_000])
    const own = await read<LedgerPage>(`/api/ledger/self?at=${at}`, site.user.call)
    expect([own.items.length, own.closing]).toEqual([3, closing])
    const url = `/api/audit/ledger/${userId}/export?format=ndjson&at=${at}`
    const headers = { cookie: site.root.cookie, 'user-id': '1' }
    const rows = (await site.app.inject({ url, headers })).body.trimEnd().split('\n')
    expect(rows.map((row) => JSON.parse(row).amount)).toEqual([500, -10, 1_000])
  })

  it('ends at the earlier one of the moment and the end of the period', async () => {
    const february = Date.UTC(2026, 1) / 1_000
    const later = new Date(JANUARY + 4_000).toISOString()
    const earlier = new Date(JANUARY).toISOString()
    const { closing } = await ledger(`to=${february}`)
    expect((await ledger(`to=${february}&at=${later}`)).closing).toEqual(closing)
    const after = await ledger(`from=${february}&at=${earlier}`)
    expect([after.items, after.opening]).toEqual([[], after.closing])
    expect(after.closing.total).toBe(990)
    const wrong = await site.root.call('GET', `/api/audit/ledger/${userId}?at=yesterday`)
    expect(wrong.status).toBe(400)
  })
})

describe('accounts with events of earlier versions', () => {
  it('have the same ledger, with totals that are summed up', async () => {
    const body = { username: 'veteran', password: PASSWORD }
    const { data } = await site.root.call<{ id: number }>('POST', '/api/user/', { body })
    const moves = [100, -30, 7].map((amount, i) => ({
      id: randomUUID(),
      ...{ type: amount > 0 ? 'QuotaGranted' : 'QuotaDeducted', v: 1 },
      data: {
        userId: data.id,
        [amount > 0 ? 'grantId' : 'deductionId']: `old-${i}`,
        ...{ amount: Math.abs(amount), reason: 'admin' },
        postings: [
          [`user:${data.id}:main`, amount],
          ['adjustment', -amount],
        ],
      },
      meta: { actor: 'user:1', cause: null, at: JANUARY + i },
    }))
    const stream = accountStream(data.id)
    position = (await site.core.store.append([{ stream, expected: 'any', events: moves }])).position
    const page = await read<LedgerPage>(`/api/audit/ledger/${data.id}`)
    expect(page.items.map(({ total }) => total)).toEqual([77, 70, 100])
    expect(page.closing).toEqual({ total: 77, balance: null, held: null })
    const now = await read<BalanceAt>(`/api/audit/balance/${data.id}`)
    expect(now).toMatchObject({ total: 77, balance: 77, held: 0 })
  })
})

describe('the month of the site', () => {
  it('has gifts, acts of admins, check-ins and transfers apart, and names channels', async () => {
    const at = Date.UTC(2026, 2, 3)
    const channel = { name: 'main', key: 'k', models: 'm', type: 1 }
    const created = await site.root.call<{ id: number }>('POST', '/api/channel/', { body: channel })
    expect(created.message).toBe('')
    userId = site.admin.id
    const gift = { type: 'GrantQuota', userId, grantId: randomUUID(), reason: 'setup' } as const
    await handle({ ...gift, amount: 70n }, at)
    await grant(500n, at)
    const deduction = { userId, deductionId: randomUUID(), reason: 'admin' } as const
    await handle({ type: 'DeductQuota', ...deduction, amount: 30n }, at)
    await handle({ type: 'CheckIn', userId, day: '2026-03-03', amount: 9n }, at)
    await call(25, at)
    await site.freshness.waitFor(['channels'], await site.head(), 10_000)
    const march = await read<SiteMonth>(`/api/audit/site-month?${month('2026-03')}`)
    expect(march).toMatchObject({
      ...{ granted: 570, gifts: 70, adjusted: 500, deducted: -30, checked_in: 9 },
      ...{ transferred: 0, rebates_returned: 0, sold: 0, refunded: 0, charged: -25 },
      by_channel: [{ channel_id: 5, channel_name: '', amount: -25 }],
    })
    const names = ['main', 'another', 'a third', 'a fourth', 'the fifth'].slice(1)
    for (const name of names) {
      await site.root.call('POST', '/api/channel/', { body: { ...channel, name } })
    }
    await site.freshness.waitFor(['channels'], await site.head(), 10_000)
    const named = await read<SiteMonth>(`/api/audit/site-month?${month('2026-03')}`)
    expect(named.by_channel).toMatchObject([{ channel_id: 5, channel_name: 'the fifth' }])
  })
})
