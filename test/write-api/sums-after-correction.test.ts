import { beforeAll, describe, expect, it } from 'vitest'
import type { CallSettled } from '#domain/accounts/events.ts'
import { chargeFor } from '#domain/pricing/charge.ts'
import { playgroundTokenId } from '#domain/shared/playground-token-id.ts'
import { type LogFilter, sumLogRows } from '#projections/logs/query.ts'
import type { SiteMonth, Statement } from '#read-api/contract/ledger.ts'
import type { LogStat, UsagePoint } from '#read-api/contract/logs.ts'
import type { SiteUsage, TokenUsagePoint } from '#read-api/contract/usage.ts'
import { sumLogs } from '#read-api/logs/sum-logs.ts'
import { newCallId } from '#relay/pipeline/http-exchange.ts'
import {
  aCall,
  admitted,
  appendTo,
  budgetSet,
  costing,
  type Given,
  granted,
  settledCall,
} from '#test/projections/fixture.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import type { PricePreview } from '#write-api/contract/options.ts'
import type { CorrectionPreview, Repricing } from '#write-api/contract/repricing-and-corrections.ts'
import { seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)

const sample = settledCall(aCall(), 0).data as CallSettled['data']
const charge = Number(chargeFor(sample.price, sample.usage))
const half = Number(chargeFor({ ...sample.price, model: '0.625' } as never, sample.usage))
const changeOfCall = half - charge

/** The read models with the sums that must agree. */
const SUMS = [
  ...(['balances', 'call-log', 'usage-by-hour'] as const),
  ...(['channels', 'corrected-calls', 'ledger'] as const),
]
const USERS = [2, 3]
const CHANNELS = [1, 2]
/** One call per user, token, channel and group, of which the corrected model has all but one. */
const calls: { call: string; userId: number; tokenId: number; channel: number; group: string }[] =
  []
let startedAt: number

beforeAll(async () => {
  startedAt = Math.floor(fixture.core.now() / 1_000)
  const at = (startedAt - 3_600) * 1_000
  const given: Given[] = USERS.flatMap((userId) => [
    granted(userId, 2_000_000),
    budgetSet(userId * 10, userId, 1_000_000),
  ])
  for (const userId of USERS) {
    for (const tokenId of [userId * 10, playgroundTokenId(userId)]) {
      for (const channel of CHANNELS) {
        for (const group of ['default', 'vip']) {
          const call = newCallId(at)
          calls.push({ call, userId, tokenId, channel, group })
          const facts = aCall({ call, userId, tokenId, group, model: 'wrong' })
          const end = settledCall(facts, charge, at, channel)
          given.push(admitted(facts, at), channel === 1 ? costing(end, 100) : end)
        }
      }
    }
    const right = aCall({ call: newCallId(at), userId, tokenId: userId * 10, model: 'right' })
    given.push(admitted(right, at), settledCall(right, charge, at))
  }
  const withoutIp = given.map((one) => ({
    ...one,
    data: { ...(one.data as object), clientIp: null },
  }))
  await fixture.freshness.waitFor(SUMS, await appendTo(fixture.core.store, withoutIp), 20_000)
})

const post = <T>(url: string, body: object) => fixture.root.call<T>('POST', url, { body })
const read = async <T>(url: string, caller = fixture.root): Promise<T> => {
  const answer = await caller.call<T>('GET', url)
  expect(answer.message).toBe('')
  return answer.data
}

/** Corrects all calls of the model, and waits for all sums. */
async function correct(price: object): Promise<CorrectionPreview> {
  const range = { from: startedAt - 3_700, to: startedAt, model: 'wrong' }
  const { data } = await post<CorrectionPreview>('/api/audit/corrections/preview', {
    ...{ ...range, price },
  })
  const applied = await post('/api/audit/corrections', { preview: data.preview, reason: 'wrong' })
  expect(applied.message).toBe('')
  await fixture.freshness.waitFor(SUMS, await fixture.head(), 20_000)
  return data
}

const sumOf = (parts: readonly { readonly amount: number }[]) =>
  parts.reduce((sum, { amount }) => sum + amount, 0)
const quotaOf = (points: readonly { readonly quota: number }[]) =>
  points.reduce((sum, { quota }) => sum + quota, 0)

const months = () => [
  ...new Set(
    [startedAt - 3_600, fixture.core.now() / 1_000].map((second) =>
      new Date(second * 1_000).toISOString().slice(0, 7),
    ),
  ),
]

/** The statements of an account in the time of the test. */
const statementsOf = (userId: number): Promise<Statement[]> =>
  Promise.all(
    months().map((month) => read<Statement>(`/api/audit/statement/${userId}?month=${month}`)),
  )

const movementsOf = async (userId: number): Promise<Statement['by_type']> =>
  (await statementsOf(userId)).flatMap(({ by_type }) => by_type)

/** Adds up the counts and amounts of rows with the same key. */
function added<Row extends { readonly count: number; readonly amount: number }>(
  rows: readonly Row[],
  keyOf: (row: Row) => string | number,
): Record<string, readonly [count: number, amount: number]> {
  const groups = [...Map.groupBy(rows, keyOf)]
  return Object.fromEntries(
    groups.map(([key, own]) => [
      key,
      [own.reduce((sum, { count }) => sum + count, 0), sumOf(own)] as const,
    ]),
  )
}

/** All answers about what an account used. */
async function usedBy(userId: number) {
  const caller = userId === 3 ? fixture.user : fixture.admin
  const { used_quota } = await read<{ used_quota: number }>(`/api/user/${userId}`)
  const movements = await movementsOf(userId)
  return {
    card: used_quota,
    usage: quotaOf(await read<UsagePoint[]>('/api/data/self/', caller)),
    tokens: quotaOf(await read<TokenUsagePoint[]>('/api/data/self/tokens', caller)),
    log: (await read<LogStat>('/api/log/self/stat', caller)).quota,
    statement: 0 - sumOf(movements.filter(({ type }) => type === 'call' || type === 'correction')),
  }
}

const agreeing = (sum: number) => ({
  ...{ card: sum, usage: sum, tokens: sum, log: sum, statement: sum },
})

/** The log filters by which sums are read, with and without stored sums. */
const FILTERS: readonly LogFilter[] = [
  {},
  ...USERS.map((userId) => ({ userId })),
  ...CHANNELS.map((channelId) => ({ channelId })),
  ...['default', 'vip'].map((group) => ({ group })),
  ...['wrong', 'right'].map((model) => ({ model })),
  ...[20, 30, playgroundTokenId(3)].map((tokenId) => ({ tokenIds: [tokenId] })),
  { userId: 3, group: 'vip', channelId: 1, model: 'wrong' },
]

describe('after corrections of charges', () => {
  const wrongCalls = 8
  const before = charge * (wrongCalls + 1)

  it('the balance card, usage, log and statement of each account agree', async () => {
    for (const userId of USERS) expect(await usedBy(userId)).toEqual(agreeing(before))
    await correct({ model_ratio: '0.625' })
    const refunded = before + changeOfCall * wrongCalls
    for (const userId of USERS) expect(await usedBy(userId)).toEqual(agreeing(refunded))
    await correct({ model_ratio: '2.5' })
    const raised = charge + 2 * charge * wrongCalls
    for (const userId of USERS) expect(await usedBy(userId)).toEqual(agreeing(raised))
    await correct({ model_ratio: '0.625' })
    for (const userId of USERS) expect(await usedBy(userId)).toEqual(agreeing(refunded))
  })

  it('the quota used of each token and channel is the sum of its charges in force', async () => {
    const { pg } = fixture.core
    const budgets = await pg.query(
      'select used_quota::int from read_balances.token_budgets where token_id in (20, 30)',
    )
    const ofToken = 4 * half + charge
    expect(budgets.rows).toEqual([{ used_quota: ofToken }, { used_quota: ofToken }])
    const spent = await pg.query(
      'select used_quota::int from read_channels.spent order by channel_id',
    )
    expect(spent.rows).toEqual(
      [8 * half + 2 * charge, 8 * half].map((used_quota) => ({ used_quota })),
    )
  })

  it('sums by hour and day equal those of the rows, for each filter', async () => {
    const { db } = fixture.core
    const now = Math.floor(fixture.core.now() / 1_000)
    for (const filter of FILTERS) {
      const charged = { type: 2, ...filter }
      const sums = await sumLogs(db, charged, now)
      expect(sums, JSON.stringify(filter)).toEqual(await sumLogRows(db, charged))
      expect(sums.quota).toBeGreaterThan(0n)
    }
    const calls = 2 * wrongCalls + 2
    const site = await sumLogs(db, { type: 2 }, now)
    expect(site).toMatchObject({ count: calls, quota: BigInt(16 * half + 2 * charge) })
    // A correction is in the hour in which it was made. The hour of the calls stays as it was.
    const past = { type: 2, to: startedAt - 1 }
    expect((await sumLogs(db, past, now)).quota).toBe(BigInt(before * USERS.length))
    expect((await sumLogRows(db, past)).quota).toBe(BigInt(before * USERS.length))
  })

  it('the site is the sum of all statements, by type, model and channel', async () => {
    const ofSite = await Promise.all(
      months().map((month) => read<SiteMonth>(`/api/audit/site-month?month=${month}`)),
    )
    const statements = (await Promise.all([1, ...USERS].map(statementsOf))).flat()
    expect(
      added(
        ofSite.flatMap(({ by_type }) => by_type),
        ({ type }) => type,
      ),
    ).toEqual(
      added(
        statements.flatMap(({ by_type }) => by_type),
        ({ type }) => type,
      ),
    )
    const byModel = added(
      ofSite.flatMap(({ by_model }) => by_model),
      ({ model }) => model,
    )
    expect(byModel).toEqual(
      added(
        statements.flatMap(({ by_model }) => by_model),
        ({ model }) => model,
      ),
    )
    expect(byModel.wrong?.[1]).toBe(-16 * half)
    const byChannel = ofSite.flatMap(({ by_channel }) => by_channel)
    expect(added(byChannel, ({ channel_id }) => channel_id)).toMatchObject({
      1: [expect.any(Number), -8 * half - 2 * charge],
      2: [expect.any(Number), -8 * half],
    })
    const charged = ofSite.reduce((sum, month) => sum + month.charged, 0)
    expect([sumOf(byChannel), charged]).toEqual([charged, -16 * half - 2 * charge])
  })

  it('a what-if starts from the charges in force', async () => {
    const ratios = Object.entries({ ModelRatio: 1.25, CompletionRatio: 4, CacheRatio: 0.5 })
    const prices = Object.fromEntries(
      ratios.map(([name, ratio]) => [name, JSON.stringify({ wrong: ratio, right: ratio })]),
    )
    const range = { from: startedAt - 3_700, to: startedAt }
    const expected = { calls: 16, charged: 16 * half, drafted: 16 * charge }
    const { data: byEvents } = await post<Repricing>('/api/audit/reprice', { ...range, prices })
    expect(byEvents.models.find(({ model }) => model === 'wrong')).toMatchObject(expected)
    expect(byEvents.largest[0]).toMatchObject({ charged: half, drafted: charge })
    const { data: byLog } = await post<PricePreview>('/api/option/price_preview', {
      ...{ start_timestamp: range.from, end_timestamp: range.to, prices },
    })
    expect(byLog.models.find(({ model }) => model === 'wrong')).toMatchObject(expected)
  })

  it('the totals of one call are its charge in force', async () => {
    const [{ call = '' } = {}] = calls
    const stat = await read<LogStat>(`/api/log/stat?request_id=${call}`)
    expect(stat).toMatchObject({ quota: half, count: 1 })
  })

  it('the margin of the site counts the charges in force', async () => {
    const { totals, top_models, top_channels } = await read<SiteUsage>('/api/data/site')
    const quota = 16 * half + 2 * charge
    expect(totals).toMatchObject({ quota, cost: 800, costed_quota: 8 * half, count: 18 })
    expect(quotaOf(top_models)).toBe(quota)
    // The channels of the calls are not in the list, because they were never created.
    expect(top_channels).toEqual([])
  })

  it('the read models are the fold of the events', async () => {
    await fixture.freshness.waitFor(SUMS, await fixture.head(), 20_000)
    for (const name of SUMS) expect(await fixture.isFold(name), name).toBe(true)
  })
})
