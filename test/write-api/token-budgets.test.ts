import { describe, expect, it, vi } from 'vitest'
import type { AccountCommand } from '#domain/accounts/commands.ts'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import type { Token } from '#read-api/contract/tokens.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { admitCall, settleCall } from '../domain/accounts/facts.ts'
import { callerOf, fifty, seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)

const read = async (id: number): Promise<Token> =>
  (await fixture.user.call<Token>('GET', `/api/token/${id}`)).data
const put = (body: object, call = fixture.user.call) =>
  call('PUT', '/api/token/', { body, headers: { 'accept-language': 'en' } })

let calls = 0
/** Makes a call with the token that is settled at a charge of 30. */
async function spend(tokenId: number): Promise<void> {
  calls += 1
  const call = `019376a0-0000-7000-8000-${String(calls).padStart(12, '0')}`
  const at = fixture.core.now()
  const grant = { type: 'GrantQuota', userId: 3, grantId: call, amount: 100n } as const
  const commands: AccountCommand[] = [
    { ...grant, reason: 'admin' },
    admitCall({ call, userId: 3, tokenId, leaseUntil: at + 60_000, startedAt: at }),
    settleCall({ call }),
  ]
  for (const command of commands) {
    const context = { actor: 'system:test', cause: null, at }
    const { actors } = fixture.core
    const outcome = await actors.handle(accountDecider, accountStream(3), command, context)
    if (!outcome.isDone) throw new Error(`${command.type} was refused: ${outcome.error.code}`)
    await fixture.freshness.waitFor(['balances'], outcome.position, 5_000)
  }
}

describe('the budget of a token', () => {
  const budgeted = async (terms: object = {}): Promise<number> => {
    const body = { name: 'budgeted', remain_quota: 1_000, ...terms }
    return (await fixture.user.call<{ id: number }>('POST', '/api/token/', { body })).data.id
  }
  const remainOf = async (id: number): Promise<number> => (await read(id)).remain_quota
  /** Reads the remaining quota without showing it to a session or an access token. */
  const remainNow = (id: number) =>
    fixture.core.actors.ask(
      accountDecider,
      accountStream(3),
      ({ budgets }) => budgets.get(id)?.remain,
    )
  const scriptOf = async () => {
    const token = (await fixture.user.call<string>('GET', '/api/user/token')).data
    return callerOf(fixture.app, { authorization: `Bearer ${token}`, 'user-id': '3' })
  }
  /** Runs `work` after the action has read the budget and before it appends. */
  const beforeAppend = (work: () => Promise<void>): void => {
    const { actors } = fixture.core
    const { handleTogether } = actors
    vi.spyOn(actors, 'handleTogether').mockImplementationOnce(async (...call) => {
      await work()
      return handleTogether(...call)
    })
  }

  it('is not restored by a row that was read before a call was settled', async () => {
    const id = await budgeted()
    const row = await read(id)
    expect(row.expected_remain_quota).toBe(1_000)
    await spend(id)
    expect((await put({ ...row, name: 'renamed' })).success).toBe(true)
    expect(await read(id)).toMatchObject({ name: 'renamed', remain_quota: 970 })
    expect((await put({ ...row, name: 'refilled', remain_quota: 2_000 })).success).toBe(true)
    const fresh = await read(id)
    expect(fresh).toMatchObject({ name: 'refilled', remain_quota: 1_970, budget_version: 1 })
    expect((await put({ ...fresh, remain_quota: 100 })).success).toBe(true)
    expect(await remainOf(id)).toBe(100)
  })

  it('is not set from a row that another edit of the budget has outdated', async () => {
    const id = await budgeted()
    const row = await read(id)
    const script = await scriptOf()
    expect((await put({ id, remain_quota: 970 }, script)).success).toBe(true)
    const answer = await put({ ...row, name: 'refilled', remain_quota: 2_000 })
    expect(answer).toMatchObject({ status: 409, code: 'TokenBudgetMoved' })
    for (const text of ['remain_quota', '970', '1000']) expect(answer.message).toContain(text)
    expect(await read(id)).toMatchObject({ name: 'budgeted', remain_quota: 970 })
  })

  it('is edited without a conflict while calls use it, and counts each change once', async () => {
    const id = await budgeted()
    const using = Promise.all(Array.from({ length: 10 }, () => spend(id)))
    for (let edit = 0; edit < 5; edit += 1) {
      const row = await read(id)
      const answer = await put({ ...row, remain_quota: row.remain_quota + 100 })
      expect(answer.success).toBe(true)
    }
    await using
    expect(await remainOf(id)).toBe(1_000 + 5 * 100 - 10 * 30)
  })

  it('is set without its version only if the expected budget is the current one', async () => {
    const id = await budgeted()
    await spend(id)
    const body = { id, remain_quota: 2_000 }
    const answer = await put({ ...body, expected_remain_quota: 1_000 })
    expect(answer).toMatchObject({ status: 409, code: 'TokenBudgetMoved' })
    expect((await put({ ...body, expected_remain_quota: 970 })).success).toBe(true)
    expect(await remainOf(id)).toBe(2_000)
  })

  it.each(['one token', 'a list', 'a search'])(
    'is set without an expected budget only if %s showed the current one',
    async (what) => {
      const id = await budgeted({ name: `shown by ${what}` })
      const path = {
        'one token': `/api/token/${id}`,
        'a list': '/api/token/?p=0&size=100',
        'a search': `/api/token/search?keyword=${encodeURIComponent(`shown by ${what}`)}`,
      }[what] as string
      await fixture.user.call('GET', path)
      await spend(id)
      const head = await fixture.head()
      for (const quota of [0, 1_000, 2_000]) {
        const answer = await put({ id, remain_quota: quota })
        expect(answer).toMatchObject({ status: 409, code: 'TokenBudgetMoved' })
      }
      expect(await fixture.head()).toBe(head)
      expect(await remainNow(id)).toBe(970n)
      await fixture.user.call('GET', path)
      expect((await put({ id, remain_quota: 2_000 })).success).toBe(true)
      // A budget that the caller has set itself counts as read.
      expect((await put({ id, remain_quota: 3_000 })).success).toBe(true)
      expect(await remainOf(id)).toBe(3_000)
    },
  )

  it('is checked against what the same access token read, not another reader', async () => {
    const script = await scriptOf()
    const id = await budgeted()
    await script('GET', `/api/token/${id}`)
    await spend(id)
    await read(id)
    expect((await put({ id, remain_quota: 900 }, script)).status).toBe(409)
    expect((await put({ id, remain_quota: 900 })).success).toBe(true)
    expect((await put({ id, remain_quota: 5 }, script)).status).toBe(409)
    expect((await put({ id, remain_quota: 5 })).success).toBe(true)
    expect(await remainOf(id)).toBe(5)
    // If the caller has never read the budget, its update sets the budget unconditionally.
    const unread = await budgeted()
    await spend(unread)
    expect((await put({ id: unread, remain_quota: 5 }, script)).success).toBe(true)
    expect(await remainOf(unread)).toBe(5)
  })

  it('is not set again by a repeated request, with or without its version', async () => {
    const id = await budgeted()
    const { budget_version: version } = await read(id)
    for (const request of [
      { id, remain_quota: 2_000 },
      { id, remain_quota: 2_000, budget_version: version },
    ]) {
      await read(id)
      expect((await put(request)).success).toBe(true)
      await spend(id)
      expect(await put(request)).toMatchObject({ status: 409, code: 'TokenBudgetMoved' })
      expect(await remainOf(id)).toBe(1_970)
    }
  })

  it('is set once when fifty edits set it from the same row', async () => {
    for (const targetOf of [(n: number) => 2_000 + n, () => 2_000]) {
      const id = await budgeted()
      const row = await read(id)
      const head = await fixture.head()
      const answers = await fifty((n) => put({ ...row, remain_quota: targetOf(n) }))
      expect(answers.filter(({ success }) => success)).toHaveLength(1)
      expect(answers.filter(({ status }) => status === 409)).toHaveLength(49)
      expect(await fixture.head()).toBe(head + 1)
    }
  })

  it('keeps what a call spends between the look-up and the append', async () => {
    const id = await budgeted()
    const row = await read(id)
    beforeAppend(() => spend(id))
    expect((await put({ ...row, name: 'raced', remain_quota: 2_000 })).success).toBe(true)
    expect(await read(id)).toMatchObject({ name: 'raced', remain_quota: 1_970 })
    beforeAppend(() => spend(id))
    expect((await put({ id, remain_quota: 3_000 })).status).toBe(409)
    expect(await remainOf(id)).toBe(1_940)
    beforeAppend(() => spend(id))
    expect((await put({ id, unlimited_quota: true })).success).toBe(true)
    expect(await read(id)).toMatchObject({ remain_quota: 1_910, unlimited_quota: true })
  })

  it('is not restored when an unlimited token becomes limited', async () => {
    const id = await budgeted({ unlimited_quota: true })
    const row = await read(id)
    await spend(id)
    const limited = { ...row, unlimited_quota: false }
    expect((await put({ ...limited, remain_quota: 1_001 })).success).toBe(true)
    expect(await read(id)).toMatchObject({ remain_quota: 971, unlimited_quota: false })
    expect((await put({ id, unlimited_quota: true })).success).toBe(true)
    beforeAppend(() => spend(id))
    expect((await put(limited)).success).toBe(true)
    expect(await read(id)).toMatchObject({ remain_quota: 941, unlimited_quota: false })
    const { expected_remain_quota: _, budget_version: _version, ...bare } = await read(id)
    await spend(id)
    expect((await put({ ...bare, unlimited_quota: true })).status).toBe(409)
    expect(await read(id)).toMatchObject({ remain_quota: 911, unlimited_quota: false })
  })

  it('is never touched by an update of the status', async () => {
    const id = await budgeted()
    const row = await read(id)
    await spend(id)
    for (const status of [2, 1]) {
      const body = { ...row, status, remain_quota: 5_000, unlimited_quota: true }
      const path = '/api/token/?status_only=true'
      expect((await fixture.user.call('PUT', path, { body })).success).toBe(true)
      const batch = { body: { ...row, ids: [id], status } }
      const answer = await fixture.user.call('POST', '/api/token/batch/status', batch)
      expect(answer.success).toBe(true)
    }
    expect(await read(id)).toMatchObject({ remain_quota: 970, unlimited_quota: false, status: 1 })
  })

  it('can be read when the shown budget is not stored, but not set before a new read', async () => {
    const id = await budgeted()
    const rename = (from: string, to: string) =>
      fixture.core.pg.query(`alter table auth.${from} rename to ${to}`)
    await rename('shown_budgets', 'lost_budgets')
    await rename('shown_balances', 'lost_balances')
    try {
      expect(await remainOf(id)).toBe(1_000)
      for (const path of ['/api/token/?p=0&size=100', '/api/token/search?keyword=budgeted']) {
        expect((await fixture.user.call('GET', path)).success).toBe(true)
      }
      for (const path of ['/api/user/3', '/api/user/?p=0']) {
        expect((await fixture.root.call('GET', path)).success).toBe(true)
      }
    } finally {
      await rename('lost_budgets', 'shown_budgets')
      await rename('lost_balances', 'shown_balances')
    }
    await spend(id)
    const body = { id, remain_quota: 2_000 }
    expect(await put(body)).toMatchObject({ status: 409, code: 'TokenBudgetMoved' })
    expect(await remainNow(id)).toBe(970n)
    await read(id)
    expect((await put(body)).success).toBe(true)
    expect(await remainNow(id)).toBe(2_000n)
  })
})
