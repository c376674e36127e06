import { randomUUID } from 'node:crypto'
import { sql } from 'slonik'
import { describe, expect, it } from 'vitest'
import type { Attempt, CallFacts } from '#domain/accounts/events.ts'
import { figuresSince } from '#projections/channel-stats/query.ts'
import { type LogFilter, logRows, sumLogRows } from '#projections/logs/query.ts'
import { logOf, matching } from '#projections/logs/select-log-rows.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import {
  aCall,
  admitted,
  type Given,
  granted,
  interruptedCall,
  NOW,
  releasedCall,
  runningProjections,
  settledCall,
} from '../fixture.ts'

const fixture = startedForEach(runningProjections)

const attempt = (
  channelId: number,
  error: string | null,
  status: number | null = 200,
): Attempt => ({
  channelId,
  status,
  error,
  latencyMs: 40,
})

/** A call that ended after the attempts. */
function ended(end: Given, attempts: readonly Attempt[]): Given {
  return { ...end, data: { ...(end.data as object), attempts } }
}

const RETRIED = aCall()
const EXHAUSTED = aCall()
const CUT = aCall({ isStream: true })

/** Calls that failed on channels 1 to 3, and calls that show no failure of a channel. */
function someCalls(): Given[] {
  const [plain, rejected, gone, unserved, interrupted] = Array.from({ length: 5 }, () => aCall())
  if (!plain || !rejected || !gone || !unserved || !interrupted) throw new Error('five calls')
  const answered = attempt(2, null)
  return [
    granted(1, 1_000),
    ...[RETRIED, EXHAUSTED, CUT, plain, rejected, gone, unserved, interrupted].map((call) =>
      admitted(call, NOW),
    ),
    ended(settledCall(RETRIED, 10, NOW, 2), [
      ...[attempt(1, 'status', 503), attempt(3, 'timeout', null), attempt(1, 'connect', null)],
      answered,
    ]),
    ended(releasedCall(EXHAUSTED, NOW), [attempt(1, 'status', 503), attempt(2, 'status', 429)]),
    ended(settledCall(CUT, 3, NOW, 3), [attempt(3, 'cut')]),
    settledCall(plain, 5, NOW, 2),
    ended(releasedCall(rejected, NOW), [attempt(1, 'status', 400)]),
    ended(releasedCall(gone, NOW), [attempt(2, 'caller-gone', null)]),
    releasedCall(unserved, NOW),
    interruptedCall(interrupted, 7),
  ]
}

const BATCH = randomUUID()

/** A batch with two calls, which channel 2 did not accept and channel 1 did. */
function endedBatch(at: number): Given[] {
  const batch = { id: BATCH, lines: 2 }
  const calls = [aCall({ call: BATCH, batch }), aCall({ model: 'sim-large', batch })]
  const attempts = [attempt(2, 'status', 503), attempt(1, null)]
  return [
    granted(1, 1_000),
    ...calls.map((call) => admitted(call, at)),
    ...calls.map((call) => ended(settledCall(call, 10, at, 1), attempts)),
  ]
}

const given = async (facts: Given[]): Promise<void> => fixture.settled(await fixture.append(facts))

const failedOn = async (failedChannelId: number): Promise<string[]> => {
  const rows = await logRows(fixture.core.db, { failedChannelId }, { offset: 0, limit: 100 })
  return rows.map(({ requestId }) => requestId)
}

const ids = (...calls: CallFacts[]): string[] => calls.map(({ call }) => call)

const stored = async () => {
  const text = 'select request_id, failed_channels from read_call_log.log order by id'
  return (await fixture.core.pg.query(text)).rows
}

describe('the call log', () => {
  it('the log lists a call under every channel on which an attempt failed', async () => {
    await given(someCalls())
    expect(await failedOn(1)).toEqual(ids(EXHAUSTED, RETRIED))
    expect(await failedOn(2)).toEqual(ids(EXHAUSTED))
    expect(await failedOn(3)).toEqual(ids(CUT, RETRIED))
    expect(await failedOn(4)).toEqual([])
  })

  it('the log stores each failed channel once, and nothing without failed attempts', async () => {
    await given(someCalls())
    const rows = (await stored()).filter(({ failed_channels: failed }) => failed !== null)
    expect(rows.map((row) => [row.request_id, row.failed_channels.map(Number)])).toEqual([
      [RETRIED.call, [1, 3]],
      [EXHAUSTED.call, [1, 2]],
      [CUT.call, [3]],
    ])
  })

  it('the log has a failed call for each channel with failures in its statistics', async () => {
    await given(someCalls())
    const figures = await figuresSince(fixture.core.db, NOW / 1_000 - 60)
    const troubled = figures.filter(({ failures }) => failures > 0).map((row) => row.channelId)
    expect(troubled).toEqual([1, 2, 3])
    for (const { channelId, failures } of figures) {
      expect([channelId, (await failedOn(channelId)).length > 0]).toEqual([channelId, failures > 0])
    }
  })

  it('a batch counts once, for its first call, in the log and in the statistics', async () => {
    await given(endedBatch(NOW))
    expect(await failedOn(2)).toEqual([BATCH])
    expect((await stored()).filter(({ failed_channels: failed }) => failed !== null)).toHaveLength(
      1,
    )
    const figures = await figuresSince(fixture.core.db, NOW / 1_000 - 60)
    expect(figures.map(({ channelId, failures }) => [channelId, failures])).toEqual([
      [1, 0],
      [2, 1],
    ])
  })

  it('the log has the same rows after a rebuild, event by event or in one batch', async () => {
    for (const fact of someCalls()) await given([fact])
    const before = await stored()
    const isEqual = async () => (await fixture.runner.verify('call-log')).map((one) => one.isEqual)
    expect(await isEqual()).toEqual([true])
    await fixture.runner.rebuild('call-log')
    expect(await stored()).toEqual(before)
    expect(await isEqual()).toEqual([true])
  })

  it('a query reads the failures of a channel in index order, without a sort', async () => {
    await given(someCalls())
    await fixture.core.pg.query('analyze read_call_log.failed_calls')
    const filter = { failedChannelId: 1 }
    const query = sql.fragment`explain select * from ${logOf(filter)}
      where ${matching(filter)} and id < 1000000 order by id desc limit 20`
    const client = await fixture.core.pg.connect()
    try {
      await client.query('set enable_seqscan = off; set enable_bitmapscan = off')
      const text = query.sql.replaceAll('$slonik_', '$')
      const plan = JSON.stringify((await client.query(text, [...query.values])).rows)
      expect(plan).toMatch(/Index (Only )?Scan Backward using failed_calls_pkey/)
      expect(plan).toMatch(/Index Cond: \(\(channel_id = '?1.*id < /)
      expect(plan).not.toContain('Sort')
    } finally {
      client.release(true)
    }
  })

  it('the sum over the failures of a channel equals the sum of their rows', async () => {
    await given(someCalls())
    const sums = (filter: LogFilter) => sumLogRows(fixture.core.db, filter)
    expect(await sums({ failedChannelId: 3 })).toMatchObject({ count: 2, quota: 13n })
    expect(await sums({ failedChannelId: 3, userId: 1 })).toMatchObject({ count: 2, quota: 13n })
    expect(await sums({ failedChannelId: 1, type: 2 })).toMatchObject({ count: 1, quota: 10n })
    expect(await sums({ failedChannelId: 4 })).toMatchObject({ count: 0, quota: 0n })
  })
})
