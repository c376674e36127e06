import { Pool } from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import { createShownBalances } from '#infra/http/remember-shown-balances-and-budgets.ts'
import type { LogEntry, LogOther } from '#read-api/contract/logs.ts'
import type { User } from '#read-api/contract/users.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import type { AdjustQuota, QuotaAdjustments } from '#write-api/contract/users.ts'
import { type Caller, callerOf, fifty, PASSWORD, seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)
let admin: Caller
let numbers = 0

beforeAll(async () => {
  admin = fixture.admin.call
})

const ENGLISH = { 'accept-language': 'en' }

const made = async (quota = 0): Promise<number> => {
  numbers += 1
  const body = { username: `user-${numbers}x`, password: PASSWORD }
  const { id } = (await fixture.root.call<{ id: number }>('POST', '/api/user/', { body })).data
  if (quota > 0) await adjust({ id, amount: quota }, fixture.root.call)
  return id
}
const adjust = (patch: Partial<AdjustQuota>, call = admin, headers = ENGLISH) => {
  numbers += 1
  const rest = { action: 'add', reason: 'invoice 18', request_id: `test-${numbers}`, ...patch }
  return call<QuotaAdjustments>('POST', '/api/user/quota', { body: rest, headers })
}
const put = (body: object, call = admin) => call('PUT', '/api/user/', { body, headers: ENGLISH })
const read = async (id: number, call = admin): Promise<User> =>
  (await call<User>('GET', `/api/user/${id}`)).data
const balanceOf = async (id: number): Promise<number> => (await read(id, fixture.root.call)).quota
/** Credits a payment in between, which an update from a stale row must not undo. */
const pay = async (userId: number, orderId: number, amount: bigint): Promise<void> => {
  const command = { type: 'CreditTopUp', userId, orderId, provider: 'epay', amount } as const
  const context = { actor: 'system', cause: null, at: fixture.core.now() }
  const { actors } = fixture.core
  const outcome = await actors.handle(accountDecider, accountStream(userId), command, context)
  if (!outcome.isDone) throw new Error('the payment was refused')
  await fixture.freshness.waitFor(['balances'], outcome.position, 5_000)
}

describe('adding and deducting quota', () => {
  it('changes the balance by exactly the amount and logs the reason', async () => {
    const id = await made(1_000)
    const added = await adjust({ id, amount: 500_001, reason: ' invoice 18 ' })
    expect(added.data.items).toMatchObject([{ id, outcome: 'done', quota: 501_001 }])
    const taken = await adjust({ id, action: 'deduct', amount: 1 })
    expect(taken.data.items).toMatchObject([{ id, outcome: 'done', quota: 501_000 }])
    const { username } = await read(id)
    const path = `/api/log/?username=${username}&type=3`
    const { data } = await admin<{ items: LogEntry[] }>('GET', path)
    expect(data.items.map(({ quota }) => quota)).toEqual([-1, 500_001, 1_000])
    expect(JSON.parse(data.items[1]?.other ?? '{}') as LogOther).toEqual({
      changed_by: { id: 2, username: 'admin1' },
      note: 'invoice 18',
    })
    const event = (await fixture.core.store.readStream(`account-${id}`)).at(-1)
    expect(event).toMatchObject({ type: 'QuotaDeducted', meta: { actor: 'user:2' } })
    expect(JSON.stringify(event)).not.toContain('invoice')
  })

  it('applies a request id once, and reports each repetition as such', async () => {
    const id = await made()
    const twice = { id, amount: 700, request_id: 'refill-2026-11' }
    const answers = await fifty(() => adjust(twice))
    const outcomes = answers.map(({ data }) => data.items[0]?.outcome)
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome === 'repeated')).toHaveLength(49)
    expect(await balanceOf(id)).toBe(700)
    for (const other of [{ amount: 701 }, { action: 'deduct' as const }]) {
      expect(await adjust({ ...twice, ...other })).toMatchObject({
        ...{ status: 409, code: 'RequestIdReused' },
      })
    }
    expect(await balanceOf(id)).toBe(700)
  })

  it('records no request id that a client chose, in no event and no ledger', async () => {
    const id = await made()
    const request_id = 'Mei.Lin_refund'
    await adjust({ id, amount: 700, request_id })
    expect((await adjust({ id, amount: 700, request_id })).data.items).toMatchObject([
      { outcome: 'repeated', quota: 700 },
    ])
    const events = await fixture.core.store.readStream(accountStream(id))
    expect(JSON.stringify(events)).toContain('adjust:')
    const ledger = await fixture.root.call('GET', `/api/audit/ledger/${id}`)
    expect(JSON.stringify(ledger.data)).toContain('adjust:')
    for (const text of [events, ledger]) expect(JSON.stringify(text)).not.toContain('Mei')
  })

  it('still knows the request ids of earlier versions', async () => {
    const id = await made()
    const grantId = 'adjust:old-1:add:700'
    const grant = { type: 'GrantQuota', userId: id, grantId, amount: 700n } as const
    const context = { actor: 'user:2', cause: null, at: fixture.core.now() }
    const command = { ...grant, reason: 'admin' } as const
    await fixture.core.actors.handle(accountDecider, accountStream(id), command, context)
    const again = { id, amount: 700, request_id: 'old-1' }
    expect((await adjust(again)).data.items).toMatchObject([{ outcome: 'repeated', quota: 700 }])
    expect(await adjust({ ...again, amount: 701 })).toMatchObject({ code: 'RequestIdReused' })
    expect(await balanceOf(id)).toBe(700)
  })

  it('refuses a deduction beyond the balance, naming the user and the balance', async () => {
    const id = await made(120)
    const { username } = await read(id)
    const head = await fixture.head()
    const answer = await adjust({ id, action: 'deduct', amount: 121 })
    expect(answer).toMatchObject({ status: 200, success: false, code: 'DeductionBeyondBalance' })
    for (const named of [username, '120', '121']) expect(answer.message).toContain(named)
    expect(await fixture.head()).toBe(head)
  })

  it('reports the outcome for each of several users', async () => {
    const [rich, poor] = [await made(1_000), await made(10)]
    const answer = await adjust({
      ids: [rich, poor, 999_999, 1, rich],
      action: 'deduct',
      amount: 50,
    })
    expect(answer.success).toBe(true)
    expect(answer.data.items).toMatchObject([
      { id: rich, outcome: 'done', quota: 950 },
      { id: poor, outcome: 'refused', quota: 10, code: 'DeductionBeyondBalance' },
      { id: 999_999, outcome: 'refused', quota: null, code: 'UserUnknown' },
      { id: 1, outcome: 'refused', quota: null, code: 'RoleTooHigh', username: '' },
    ])
    expect(await balanceOf(rich)).toBe(950)
    expect(await balanceOf(poor)).toBe(10)
  })

  it('needs a user of a lower level; only a super admin may adjust the own balance', async () => {
    for (const id of [1, 2]) {
      expect(await adjust({ id, amount: 5 })).toMatchObject({ code: 'RoleTooHigh' })
    }
    expect((await adjust({ id: 3, amount: 5 }, fixture.user.call)).status).toBe(403)
    expect((await adjust({ id: 1, amount: 5 }, fixture.root.call)).success).toBe(true)
  })

  it.each([
    [{ id: 3, amount: 0 }, 'amount'],
    [{ id: 3, amount: 1.5 }, 'amount'],
    [{ id: 3, amount: 5, reason: ' ' }, 'reason'],
    [{ id: 3, amount: 5, reason: 'x'.repeat(201) }, 'reason'],
    [{ id: 3, amount: 5, request_id: '' }, 'request_id'],
    [{ amount: 5 }, 'id'],
    [{ id: 3, ids: [3], amount: 5 }, 'ids'],
    [{ ids: Array.from({ length: 101 }, (_, at) => at + 1), amount: 5 }, 'ids'],
  ])('refuses %o and names the field', async (patch, field) => {
    const head = await fixture.head()
    const answer = await adjust(patch)
    expect(answer).toMatchObject({ status: 400, code: 'InvalidField' })
    expect(answer.message).toContain(field)
    expect(await fixture.head()).toBe(head)
  })

  it('loses nothing when fifty refills and payments run at once', async () => {
    const id = await made()
    await fifty(async (n) => {
      await Promise.all([
        adjust({ id, amount: 1_000 }),
        pay(id, 5_000 + n, 10n),
        n % 2 === 0 ? adjust({ id, amount: 1 }, fixture.root.call) : null,
      ])
    })
    expect(await balanceOf(id)).toBe(50 * 1_000 + 50 * 10 + 25)
  })
})

describe('setting an absolute balance', () => {
  it('is refused from a row that was read before a payment', async () => {
    const id = await made(1_000)
    const row = await read(id)
    expect(row.expected_quota).toBe(1_000)
    await pay(id, 7_001, 10_000_000n)
    const answer = await put({ ...row, quota: 501_000 })
    expect(answer).toMatchObject({ status: 409, code: 'BalanceMoved' })
    for (const named of ['10001000', '1000']) expect(answer.message).toContain(named)
    expect(await balanceOf(id)).toBe(10_001_000)
    // An update that sends back the row as it was read does not change the balance.
    expect((await put({ ...row, display_name: 'Renamed' })).success).toBe(true)
    expect(await read(id)).toMatchObject({ quota: 10_001_000, display_name: 'Renamed' })
    const fresh = await read(id)
    expect((await put({ ...fresh, quota: fresh.quota + 1 })).success).toBe(true)
    expect(await balanceOf(id)).toBe(10_001_001)
  })

  it.each(['one user', 'a list', 'a search'])(
    'is refused without an expected balance if it changed after %s was read',
    async (what) => {
      const id = await made(1_000)
      const { username } = await read(id, fixture.root.call)
      const path = {
        'one user': `/api/user/${id}`,
        'a list': '/api/user/?page_size=100',
        'a search': `/api/user/search?keyword=${username}`,
      }[what] as string
      await admin('GET', path)
      await pay(id, 8_001, 20n)
      expect(await put({ id, quota: 2_000 })).toMatchObject({ status: 409, code: 'BalanceMoved' })
      expect(await balanceOf(id)).toBe(1_020)
      await admin('GET', path)
      expect((await put({ id, quota: 2_000 })).success).toBe(true)
      // A balance that the caller has set itself counts as read.
      expect((await put({ id, quota: 3_000 })).success).toBe(true)
      expect(await balanceOf(id)).toBe(3_000)
    },
  )

  it('is checked against what the same access token read, not another reader', async () => {
    const token = (await admin<string>('GET', '/api/user/token')).data
    const script = callerOf(fixture.app, { authorization: `Bearer ${token}`, 'user-id': '2' })
    const id = await made(1_000)
    await read(id, script)
    await pay(id, 8_501, 1n)
    await read(id, admin)
    expect((await put({ id, quota: 5 }, script)).status).toBe(409)
    expect((await put({ id, quota: 5 }, admin)).success).toBe(true)
    // If the caller has never read the balance, its update sets the balance unconditionally.
    const unread = await made(1_000)
    await pay(unread, 8_502, 1n)
    expect((await put({ id: unread, quota: 5 }, script)).success).toBe(true)
    expect(await balanceOf(unread)).toBe(5)
  })

  it('is refused while the balance that was read is unknown, until the next read', async () => {
    const { pg } = fixture.core
    const rename = (from: string, to: string) =>
      pg.query(`alter table auth.${from} rename to ${to}`)
    const whileLost = async (work: () => Promise<unknown>): Promise<void> => {
      await rename('shown_balances', 'lost_balances')
      try {
        await work()
      } finally {
        await rename('lost_balances', 'shown_balances')
      }
    }
    const refused = { status: 409, code: 'BalanceMoved' }
    for (const readBefore of [false, true]) {
      const id = await made(1_000)
      if (readBefore) await read(id)
      await whileLost(() => read(id))
      await pay(id, 8_601 + Number(readBefore), 20n)
      expect(await put({ id, quota: 2_000 })).toMatchObject(refused)
      expect(await balanceOf(id)).toBe(1_020)
      // The row contains the balance at the time of reading, so no stored reading is needed.
      const row = await read(id)
      expect((await put({ ...row, quota: 3_000 })).success).toBe(true)
      expect((await put({ id, quota: 4_000 })).success).toBe(true)
      // If the balance that the caller has set could not be stored, it does not count as read.
      const again = { ...(await read(id)), quota: 5_000 }
      await whileLost(async () => expect((await put(again)).success).toBe(true))
      await pay(id, 8_611 + Number(readBefore), 30n)
      expect(await put({ id, quota: 5_000 })).toMatchObject(refused)
      expect(await balanceOf(id)).toBe(5_030)
      expect((await put({ id, quota: 7 }, fixture.root.call)).success).toBe(true)
    }
  })

  it('is refused by another process too, once the table is writable again', async () => {
    const { pg } = fixture.core
    const reader = { userId: 2, sessionHash: 'of a session' }
    const other = new Pool(pg.options)
    try {
      const here = await createShownBalances(fixture.core)
      const there = await createShownBalances({ ...fixture.core, pg: other })
      await here.remember(reader, new Map([[5, 100]]))
      expect(await there.lastOf(reader, 5)).toBe(100n)
      await pg.query('alter table auth.shown_balances rename to lost_balances')
      await here.remember(reader, new Map([[5, 200]]))
      await pg.query('alter table auth.lost_balances rename to shown_balances')
      expect(await here.lastOf(reader, 5)).toBe('unknown')
      await expect.poll(() => there.lastOf(reader, 5)).toBe('unknown')
      await there.remember(reader, new Map([[5, 300]]))
      expect(await here.lastOf(reader, 5)).toBe(300n)
      expect(await here.lastOf(reader, 6)).toBe('unknown')
      expect(await here.lastOf({ ...reader, sessionHash: 'of another' }, 5)).toBeNull()
    } finally {
      await other.end()
    }
  })

  it('succeeds once when fifty requests set it from the same row', async () => {
    const id = await made(100)
    const row = await read(id)
    const answers = await fifty((n) => put({ ...row, quota: 1_000 + n }))
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(49)
    const [event, ...more] = (await fixture.core.store.readStream(`account-${id}`)).slice(1)
    expect(event?.type).toBe('QuotaGranted')
    expect(more).toEqual([])
  })
})
