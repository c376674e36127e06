import { beforeAll, describe, expect, it } from 'vitest'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import { userDecider } from '#domain/users/decide.ts'
import { userStream } from '#domain/users/events.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import {
  type Answer,
  type Caller,
  callerOf,
  fifty,
  seededFixture,
  type WriteFixture,
} from './write-fixture.ts'

/** More concurrent commands would exceed the database clients' time limit. */
const AT_ONCE = 50

type Needed = Pick<WriteFixture, 'core' | 'app' | 'freshness'>

/**
 * Creates `count` more users with sessions, without the cost of hashing passwords. Each user has a
 * separate IP address unless one is given.
 */
async function manyUsers(
  { core, app, freshness }: Needed,
  count: number,
  firstId = 1_000,
  address?: string,
): Promise<{ readonly id: number; readonly call: Caller }[]> {
  const ids = Array.from({ length: count }, (_, n) => firstId + n)
  const create = async (userId: number): Promise<void> => {
    const name = await core.vault.seal(userId, `user${userId}`)
    const about = { username: name, displayName: name, role: 1, group: 'default' } as const
    const command = { type: 'CreateUser', userId, ...about } as const
    const context = { actor: 'system:test', cause: null, at: core.now() }
    const given = { ...command, passwordRef: null, inviterId: null }
    await core.actors.handle(userDecider, userStream(userId), given, context)
  }
  for (let from = 0; from < count; from += AT_ONCE) {
    await Promise.all(ids.slice(from, from + AT_ONCE).map(create))
  }
  await freshness.waitFor(['users'], await core.store.headPosition(), 10_000)
  return Promise.all(
    ids.map(async (id) => {
      const session = await app.gate.sessions.start(id, 1)
      const said = { cookie: `session=${session}`, 'user-id': String(id) }
      return { id, call: callerOf(app, said, address ?? `10.1.${id >> 8}.${id & 255}`) }
    }),
  )
}

const fixture = startedOnce(seededFixture)
let users: Awaited<ReturnType<typeof manyUsers>>

beforeAll(async () => {
  users = await manyUsers(fixture, 500)
})

type Given = { readonly quota: number; readonly is_gift: boolean }

const QUOTA = 700
const codes = async (body: object = {}): Promise<string[]> => {
  const terms = { name: 'spring', quota: QUOTA, ...body }
  const answer = await fixture.admin.call<string[]>('POST', '/api/redemption/', { body: terms })
  if (!answer.success) throw new Error(answer.message)
  return answer.data
}
const codeOf = async (body: object = {}): Promise<string> => (await codes(body))[0] ?? ''
/** Retries after a 503 of a busy server, as any client would. */
const redeem = async (call: Caller, key: unknown): Promise<Answer<Given>> => {
  const answer = await call<Given>('POST', '/api/user/topup', { body: { key } })
  return answer.status === 503 ? redeem(call, key) : answer
}
const balanceOf = async (userId: number): Promise<bigint> =>
  (await fixture.core.actors.stateOf(accountDecider, accountStream(userId))).balance
const ids = () => users.map(({ id }) => id)
const balances = () => Promise.all(ids().map(balanceOf))
const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((a, b) => a + b, 0n)

describe('redeeming a code', () => {
  it('adds the value of the code at once, and is a top-up in the log', async () => {
    const { call } = fixture.user
    const before = (await call<{ quota: number }>('GET', '/api/user/self')).data.quota
    const answer = await redeem(call, ` ${await codeOf()} `)
    expect(answer).toMatchObject({ success: true, data: { quota: QUOTA, is_gift: false } })
    const after = await call<{ quota: number }>('GET', '/api/user/self')
    expect(after.data.quota).toBe(before + QUOTA)
    const log = await call<{ items: object[] }>('GET', '/api/log/self/?type=1')
    expect(log.data.items).toMatchObject([
      { type: 1, quota: QUOTA, content: '通过兑换码充值', username: 'user1' },
    ])
    const stat = await call<{ quota: number }>('GET', '/api/log/self/stat?type=1')
    expect(stat.data.quota).toBe(QUOTA)
  })

  it('reports that a code is a gift', async () => {
    const answer = await redeem(fixture.user.call, await codeOf({ is_gift: true }))
    expect(answer.data).toEqual({ quota: QUOTA, is_gift: true })
  })

  it.each([
    ['', 'CodeRequired', '请输入兑换码！'],
    ['   ', 'CodeRequired', '请输入兑换码！'],
    ['NOSUCHCODE', 'CodeInvalid', '无效或已被使用的兑换码'],
  ])('refuses %j', async (key, code, message) => {
    const answer = await redeem(fixture.user.call, key)
    expect(answer).toMatchObject({ status: 200, success: false, code, message })
  })

  it.each([null, 7, ['a'], 'x'.repeat(201)])('refuses %j as an invalid field', async (key) => {
    const answer = await redeem(fixture.user.call, key)
    expect(answer).toMatchObject({ status: 400, code: 'InvalidField' })
    expect(answer.message).toContain('key')
  })

  it('refuses a code before and after its time, by the clock of the site', async () => {
    const now = Math.floor(fixture.core.now() / 1_000)
    const early = await codeOf({ valid_from: now + 3_600 })
    const late = await codeOf({ valid_until: now + 60 })
    fixture.clock.ahead += 60_000
    expect((await redeem(fixture.user.call, early)).code).toBe('CodeNotYetValid')
    expect((await redeem(fixture.user.call, late)).code).toBe('CodeExpired')
  })

  it('limits the guesses of a user, and counts only wrong codes', async () => {
    const [one] = await manyUsers(fixture, 1, 2_000)
    if (one === undefined) throw new Error('no user')
    const [used, gift] = [await codeOf(), await codeOf({ is_gift: true })]
    await redeem(fixture.user.call, used)
    await redeem(one.call, gift)
    for (let n = 0; n < 12; n += 1)
      expect((await redeem(one.call, gift)).code).toBe('CodeRedeemedAlready')
    // Sending a code that the user has already redeemed does not count as a guess either.
    const own = await codeOf()
    expect((await redeem(one.call, own)).success).toBe(true)
    for (let n = 0; n < 12; n += 1) expect((await redeem(one.call, own)).code).toBe('CodeInvalid')
    // The responses do not distinguish a used code from a code that never existed.
    const guesses = await fifty((n) => redeem(one.call, n % 2 === 0 ? used : `GUESS${n}`))
    expect(guesses.filter(({ code }) => code === 'CodeInvalid')).toHaveLength(10)
    expect(guesses.filter(({ status }) => status === 429)).toHaveLength(40)
    const key = await codeOf()
    expect((await redeem(one.call, key)).status).toBe(429)
    fixture.clock.ahead += 61_000
    expect((await redeem(one.call, key)).success).toBe(true)
  })

  it('limits the guesses from an IP address, however many accounts it uses', async () => {
    const others = await manyUsers(fixture, 50, 3_000, '192.0.2.7')
    const tried = await Promise.all(others.map(({ call }, n) => redeem(call, `GUESS${n}`)))
    expect(tried.filter(({ code }) => code === 'CodeInvalid')).toHaveLength(30)
    expect(tried.filter(({ status }) => status === 429)).toHaveLength(20)
    fixture.clock.ahead += 61_000
    expect((await redeem(others[0]?.call ?? fixture.user.call, await codeOf())).success).toBe(true)
  })
})

describe('concurrent redemptions', () => {
  it('give a code to one of 500 users', async () => {
    const before = sum(await balances())
    const key = await codeOf()
    const answers = await Promise.all(users.map(({ call }) => redeem(call, key)))
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([undefined, 'CodeInvalid']))
    expect(sum(await balances()) - before).toBe(BigInt(QUOTA))
  })

  it('give a gift with five uses to five of 500 users', async () => {
    const before = await balances()
    const key = await codeOf({ is_gift: true, max_uses: 5 })
    const answers = await Promise.all(users.map(({ call }) => redeem(call, key)))
    expect(answers.filter(({ success }) => success)).toHaveLength(5)
    const gained = (await balances()).map((balance, at) => balance - (before[at] ?? 0n))
    expect(gained.filter((amount) => amount === BigInt(QUOTA))).toHaveLength(5)
    expect(sum(gained)).toBe(BigInt(5 * QUOTA))
  })

  it('give a gift once to a user who sends it fifty times', async () => {
    const [one] = users
    if (one === undefined) throw new Error('no user')
    const before = await balanceOf(one.id)
    const key = await codeOf({ is_gift: true, max_uses: -1 })
    const answers = await fifty(() => redeem(one.call, key))
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    expect(answers.filter(({ code }) => code === 'CodeRedeemedAlready')).toHaveLength(49)
    expect((await balanceOf(one.id)) - before).toBe(BigInt(QUOTA))
  })

  it('give fifty codes to one user, each code once', async () => {
    const [, two] = users
    if (two === undefined) throw new Error('no user')
    const before = await balanceOf(two.id)
    const keys = await codes({ count: 50 })
    const answers = await Promise.all([...keys, ...keys].map((key) => redeem(two.call, key)))
    expect(answers.filter(({ success }) => success)).toHaveLength(50)
    expect((await balanceOf(two.id)) - before).toBe(BigInt(50 * QUOTA))
  })

  it('leave read models that equal the folds of their events', async () => {
    for (const name of ['redemptions', 'balances', 'call-log'] as const) {
      expect(await fixture.isFold(name), name).toBe(true)
    }
  })
})
