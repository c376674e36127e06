import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Attempt } from '#domain/accounts/events.ts'
import { figuresSince, minutesSince } from '#projections/channel-stats/query.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import {
  aCall,
  admitted,
  type Given,
  NOW,
  releasedCall,
  runningProjections,
  settledCall,
} from '../fixture.ts'

const fixture = startedForEach(runningProjections)

const MINUTE = Math.floor(NOW / 60_000) * 60
const since = (minutes: number) => figuresSince(fixture.core.db, MINUTE - minutes * 60)

/** An ended call with the given attempts and timings. */
function ended(given: Given, fields: { attempts?: Attempt[]; firstByteMs?: number }): Given {
  const { attempts, firstByteMs } = fields
  const data = given.data as { attempts: Attempt[]; timings: { firstByteMs: number | null } }
  const timings = { ...data.timings, ...(firstByteMs === undefined ? {} : { firstByteMs }) }
  return { ...given, data: { ...data, timings, attempts: attempts ?? data.attempts } }
}
const answered = (latencyMs: number, channelId = 1): Attempt => ({
  channelId,
  status: 200,
  error: null,
  latencyMs,
})
const failed = (error: string, status: number | null = null, channelId = 1): Attempt => ({
  channelId,
  status,
  error,
  latencyMs: 40,
})

async function given(...facts: Given[]): Promise<void> {
  await fixture.settled(await fixture.append(facts))
}

describe('the statistics of channels', () => {
  it('each attempt counts for its own channel, and callers’ errors for none', async () => {
    const [one, other, bad] = [aCall(), aCall({ model: 'sim-large' }), aCall()]
    const refused = aCall()
    const ofAccount: Attempt = { ...failed('status', 400), isAccounts: true }
    await given(
      admitted(one),
      ended(settledCall(one, 10, NOW, 2), { attempts: [failed('connect'), answered(300, 2)] }),
      admitted(other),
      ended(releasedCall(other), {
        attempts: [
          failed('status', 503),
          failed('status', 401, 2),
          ...['caller-gone', 'balance-spent', 'store-unavailable'].map((error) =>
            failed(error, null, 3),
          ),
          failed('blocked', 200, 3),
        ],
      }),
      admitted(bad),
      ended(releasedCall(bad), { attempts: [failed('status', 400)] }),
      admitted(refused),
      ended(releasedCall(refused), { attempts: [ofAccount] }),
    )
    const figures = await since(0)
    expect(
      figures.map(({ channelId, successes, failures }) => [channelId, successes, failures]),
    ).toEqual([
      [1, 0, 3],
      [2, 1, 1],
    ])
    expect(figures[0]?.models.map(({ model, failures }) => [model, failures])).toEqual([
      ['sim-large', 1],
      ['sim-small', 2],
    ])
    expect(figures[0]).toMatchObject({ latencyMs: null, firstTokenMs: null, tokensPerSecond: null })
  })

  it('the statistics count answers with an anomaly', async () => {
    const [flagged, plain] = [aCall(), aCall()]
    const settledOne = settledCall(flagged, 10)
    const data = { ...(settledOne.data as object), anomaly: 'other-model' }
    await given(
      admitted(flagged),
      { ...settledOne, data } as Given,
      admitted(plain),
      settledCall(plain, 10),
    )
    expect(await since(0)).toMatchObject([{ anomalies: 1, models: [{ anomalies: 1 }] }])
  })

  it('percentiles are exact to a bucket, and first-token time omits earlier attempts', async () => {
    const facts: Given[] = []
    for (let n = 1; n <= 100; n += 1) {
      const call = aCall({ isStream: true })
      const attempts = [failed('timeout', null, 2), answered(n === 100 ? 20_000 : n * 10)]
      facts.push(admitted(call), ended(settledCall(call, 1), { attempts, firstByteMs: 240 }))
    }
    await given(...facts)
    const [figures] = await since(0)
    expect(figures?.latencyMs?.p50).toBeGreaterThan(400)
    expect(figures?.latencyMs?.p50).toBeLessThan(600)
    expect(figures?.latencyMs?.p95).toBeGreaterThan(800)
    expect(figures?.latencyMs?.p95).toBeLessThanOrEqual(1_200)
    expect(figures?.firstTokenMs?.p50).toBeGreaterThan(150)
    expect(figures?.firstTokenMs?.p50).toBeLessThanOrEqual(200)
    expect(figures?.tokensPerSecond).toBeGreaterThan(0)
  })

  it('the submission of a batch counts once, in its minute, and not for the speed', async () => {
    const id = randomUUID()
    const calls = [
      aCall({ call: id, batch: { id, lines: 3 } }),
      aCall({ model: 'sim-large', batch: { id, lines: 1 } }),
    ]
    const attempts = [failed('status', 503, 2), answered(300)]
    const sixHoursLater = NOW + 6 * 3_600_000
    await given(
      ...calls.map((call) => admitted(call)),
      ...calls.map((call) => ended(settledCall(call, 10, sixHoursLater), { attempts })),
    )
    const minutes = await minutesSince(fixture.core.db, 0)
    const submitted = Math.floor((NOW - 1_500) / 60_000) * 60
    expect(minutes).toEqual([
      { channelId: 1, minute: submitted, successes: 1, failures: 0 },
      { channelId: 2, minute: submitted, successes: 0, failures: 1 },
    ])
    const [figures] = await since(60)
    expect(figures?.models.map(({ model }) => model)).toEqual(['sim-small'])
    expect(figures).toMatchObject({ latencyMs: null, firstTokenMs: null, tokensPerSecond: null })
  })

  it('the statistics cover the requested period, also per minute', async () => {
    const facts = [0, 4, 30, 600].flatMap((minutes) => {
      const call = aCall()
      const at = NOW - minutes * 60_000
      return [admitted(call, at), settledCall(call, 1, at)]
    })
    await given(...facts)
    const counts = await Promise.all(
      [5, 60, 1_440].map(async (n) => (await since(n))[0]?.successes),
    )
    expect(counts).toEqual([2, 3, 4])
    const minutes = await minutesSince(fixture.core.db, MINUTE - 3_600)
    expect(minutes.map(({ minute }) => (MINUTE - minute) / 60)).toEqual([30, 4, 0])
  })

  it('the statistics are the same after a rebuild', async () => {
    const call = aCall({ isStream: true })
    await given(admitted(call), settledCall(call, 5))
    const verdicts = await fixture.runner.verify('channel-stats')
    expect(verdicts.map(({ isEqual }) => isEqual)).toEqual([true])
    await fixture.runner.rebuild('channel-stats')
    expect((await since(0))[0]?.successes).toBe(1)
  })
})
