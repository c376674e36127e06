import { beforeAll, expect, it } from 'vitest'
import type { StateAsOf } from '#read-api/contract/time-travel.ts'
import { budgetSet, type Given, NOW, tokenCreated } from '#test/projections/fixture.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { ADMIN, apiFixture, BOB } from './fixture.ts'

const api = startedOnce(apiFixture)
const at = (given: Given, time: number): Given => ({ ...given, at: time })
const MINUTE = 60_000
/** The position of the event that created the token 8. */
let first = 0

beforeAll(async () => {
  const opened: Given = {
    ...{ stream: `account-${BOB}`, type: 'TokenBudgetsOpened', v: 1, at: NOW },
    data: { userId: BOB, tokenIds: [8, 9], remain: 70, isUnlimited: false },
  }
  const events = [
    at(tokenCreated(8, BOB, 'limited'), NOW),
    opened,
    at(budgetSet(8, BOB, 500), NOW + MINUTE + 500),
    at(budgetSet(9, BOB, 1), NOW + 2 * MINUTE),
    at(budgetSet(8, BOB, 0, true), NOW + 3 * MINUTE),
  ]
  let position = 0
  // An append orders its events by stream.
  for (const event of events) position = await api.append([event])
  first = position - 4
  await api.settled(position)
})

const stateAt = async (moment: string | number): Promise<StateAsOf> => {
  const path = `/api/audit/state/token/8?at=${encodeURIComponent(moment)}`
  return (await api.get<StateAsOf>(path, await api.logIn(ADMIN))).body.data
}
const iso = (time: number) => new Date(time).toISOString()

it('a token as of a moment has its quota, whose changes are changes of the token', async () => {
  const created = [undefined, undefined, 0, 'TokensCreated', 0]
  const open = [70, false, 1, 'TokenBudgetsOpened', 1]
  const set = [500, false, 2, 'TokenBudgetSet', 2]
  const unlimited = [null, true, 4, 'TokenBudgetSet', 4]
  for (const [moment, expected] of [
    ...[created, open, set, set, unlimited].map((state, n) => [first + n, state] as const),
    [iso(NOW + MINUTE), open],
    [iso(NOW + MINUTE + 499), open],
    [iso(NOW + MINUTE + 500), set],
    ['', unlimited],
  ] as const) {
    const { state, position, last_change: change } = await stateAt(moment)
    const { quota, is_unlimited: isUnlimited } = state ?? {}
    const changed = [change?.type, (change?.position ?? 0) - first]
    expect([quota, isUnlimited, position - first, ...changed], `${moment}`).toEqual(expected)
  }
  expect(await stateAt(first - 1)).toMatchObject({ state: null, is_deleted: false })
})

it('the audit log of a token has the acts that changed its quota', async () => {
  const path = '/api/audit/log?object=token:8'
  const { body } = await api.get<{ items: { act: string }[] }>(path, await api.logIn(ADMIN))
  expect(body.data.items.map(({ act }) => act)).toEqual([
    ...['token-budget-set', 'token-budget-set', 'token-budgets-opened', 'tokens-created'],
  ])
})
