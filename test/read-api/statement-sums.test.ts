import { describe, expect, it } from 'vitest'
import {
  rangeOfPeriod,
  type SiteSum,
  sumMovements,
  sumSite,
  sumsOfPeriod,
} from '#projections/ledger/query.ts'
import type { Given } from '#test/projections/fixture.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { ADMIN, ALICE, apiFixture, BOB } from './fixture.ts'

const api = startedOnce(apiFixture)
const DAY = 86_400
const MONTHS = [0, 1, 2].map((month) => Date.UTC(2026, month) / 1_000)
const monthEnd = (index: number) => MONTHS[index + 1] ?? Date.UTC(2026, MONTHS.length) / 1_000

/** A repeatable source of numbers from 0 to below 1. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

type Totals = Map<number, number>

/** A movement of a random kind at a time in unix seconds. */
function movementOf(n: number, userId: number, at: number, random: () => number, totals: Totals) {
  const call = { call: `call-${n}`, tokenId: 1, channelId: 1 + (n % 3), model: `model-${n % 4}` }
  const kinds: readonly [type: string, sign: number, fields: object][] = [
    ['CallSettled', -1, call],
    ['CallInterrupted', -1, call],
    ['QuotaGranted', 1, { grantId: `g-${n}`, reason: n % 2 === 0 ? 'admin' : 'redemption' }],
    ['QuotaDeducted', -1, { deductionId: `d-${n}`, reason: 'admin' }],
    ['TopUpCredited', 1, { orderId: n, provider: 'stripe' }],
    ['ChargeCorrected', 1, { correctionId: `c-${n}`, model: `model-${n % 4}` }],
  ]
  const [type, sign, fields] = kinds[Math.floor(random() * kinds.length)] ?? kinds[0] ?? []
  const amount = Math.floor(random() * 50) * (sign ?? 1)
  const total = (totals.get(userId) ?? 0) + amount
  totals.set(userId, total)
  const postings = [
    [`user:${userId}:main`, amount],
    ['revenue', -amount],
  ]
  const calls = type === 'ChargeCorrected' ? { calls: correctedCalls(n, amount) } : {}
  const data = { userId, ...fields, ...calls, postings, balanceAfter: total, heldAfter: 0 }
  return { stream: `account-${userId}`, type, v: 1, at: at * 1_000, data } as unknown as Given
}

/** Calls of two channels, or of an event that lacks the channels, which together gain `amount`. */
const correctedCalls = (n: number, amount: number) =>
  [90 - amount, 110].map((corrected, index) => ({
    ...{ call: `call-${n}-${index}`, tokenId: 1, charge: 100, corrected },
    ...(n % 2 === 0 ? { channelId: 1 + index } : {}),
  }))

/** Adds up the channels of corrections, whose movements name none. */
function withoutChannelsOfCorrections(sums: readonly SiteSum[]): Record<string, string> {
  const found: Record<string, { count: number; amount: bigint }> = {}
  for (const { type, reason, channelId, model, count, amount } of sums) {
    const channel = type === 'correction' ? 0 : channelId
    const key = `${type} ${reason} ${channel} ${model}`
    const before = found[key] ?? { count: 0, amount: 0n }
    found[key] = { count: before.count + count, amount: before.amount + amount }
  }
  return Object.fromEntries(
    Object.entries(found).map(([key, { count, amount }]) => [key, `${count} of ${amount}`]),
  )
}

/** Movements at the ends of months, days and in between, in an order that differs by `skew`. */
function randomHistory(seed: number, userId: number, skew: number): Given[] {
  const random = randomNumbers(seed)
  const totals: Totals = new Map()
  const times = MONTHS.flatMap((start) => [
    ...[start - 1, start, start + 1, start + DAY - 1, start + DAY],
    ...Array.from({ length: 60 }, () => start + Math.floor(random() * 28 * DAY)),
    ...Array.from({ length: 40 }, () => start + Math.floor((random() - 0.5) * 2 * skew)),
  ])
  const ordered = times
    .map((at) => ({ at, order: at + (random() - 0.5) * skew }))
    .toSorted((a, b) => a.order - b.order)
  return ordered.map(({ at }, n) => movementOf(n, userId, at, random, totals))
}

const expectExact = async (userId: number) => {
  const { db } = api.core
  let total = 0n
  for (const [index, from] of MONTHS.entries()) {
    const period = { from, to: monthEnd(index) }
    const { opening, closing, sums } = await sumsOfPeriod(db, userId, period)
    const range = await rangeOfPeriod(db, userId, period)
    expect(sums).toEqual(await sumMovements(db, userId, range))
    expect(sums.length).toBeGreaterThan(20)
    if (index > 0) expect(opening.total).toBe(total)
    total = opening.total + sums.reduce((change, { amount }) => change + amount, 0n)
    expect(closing.total).toBe(total)
  }
}

describe('the sums of a month', () => {
  it.each([
    ['clocks that agree', ALICE, 1, 7],
    ['clocks that differ by minutes', BOB, 500, 8],
    ['clocks that differ by an hour', ADMIN, 3_600, 9],
  ])('are those of the movements, with %s', async (_, userId, skew, seed) => {
    const position = await api.append(randomHistory(seed, userId, skew))
    await api.freshness.waitFor(['ledger'], position, 20_000)
    await expectExact(userId)
  })

  it('of the site are those of the movements of all accounts', async () => {
    const { pg, db } = api.core
    for (const [index, from] of MONTHS.entries()) {
      const { rows } = await pg.query(
        `select type, reason, channel_id::int as "channelId", model, count(*)::int as count,
           sum(amount)::int8 as amount
         from read_ledger.movements where created_at >= $1 and created_at < $2
         group by type, reason, channel_id, model order by type, reason, channel_id, model`,
        [from, monthEnd(index)],
      )
      const expected = rows.map((row) => ({ ...row, amount: BigInt(row.amount) }))
      const found = await sumSite(db, from)
      expect(withoutChannelsOfCorrections(found)).toEqual(withoutChannelsOfCorrections(expected))
      const corrections = found.filter(({ type }) => type === 'correction')
      expect(new Set(corrections.map(({ channelId }) => channelId))).toEqual(new Set([0, 1, 2]))
      expect(expected.length).toBeGreaterThan(20)
    }
  })

  it('do not depend on the time zone of the machine', async () => {
    const zone = process.env.TZ
    const user = ALICE + 100
    try {
      process.env.TZ = 'Pacific/Kiritimati'
      const [start = 0] = MONTHS
      const totals: Totals = new Map()
      const times = [start - 1, start, monthEnd(0) - 1, monthEnd(0)]
      const events = times.map((at, n) => movementOf(n, user, at, () => 0.4, totals))
      await api.freshness.waitFor(['ledger'], await api.append(events), 20_000)
      const period = { from: start, to: monthEnd(0) }
      const { sums } = await sumsOfPeriod(api.core.db, user, period)
      expect(sums.map(({ day }) => day)).toEqual([start, monthEnd(0) - DAY])
    } finally {
      if (zone === undefined) delete process.env.TZ
      else process.env.TZ = zone
    }
  })
})
