import { describe, expect, it } from 'vitest'
import { changedChecks, latestTestRun, runResults } from '#projections/channel-checks/query.ts'
import { findChannel } from '#projections/channels/query.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { channelCreated, type Given, NOW, runningProjections } from '../fixture.ts'

const fixture = startedForEach(runningProjections)

const tested = (channelId: number, durationMs: number, reason = '', run: string | null = null) => ({
  stream: `channel-checks-${channelId}`,
  type: 'ChannelTested',
  v: 1,
  data: {
    channelId,
    model: 'sim-small',
    isSuccess: reason === '',
    durationMs,
    reason,
    usage: null,
    run,
  },
})
const balance = (channelId: number, text: string): Given => ({
  stream: `channel-checks-${channelId}`,
  type: 'ChannelBalanceRead',
  v: 1,
  data: { channelId, balance: text },
})
const run = (type: string, data: object, at = NOW): Given => ({
  stream: 'channel-test-runs',
  type,
  v: 1,
  data,
  at,
})
const SECONDS = NOW / 1_000
const all = { after: 0, upTo: 1_000 }

describe('the latest test and balance of each channel', () => {
  it('the read model keeps the latest test and the latest balance separately', async () => {
    const facts = [tested(4, 812), balance(4, '-0.000001'), tested(5, 0), balance(4, '12.50')]
    await fixture.settled(await fixture.append(facts))
    expect(await changedChecks(fixture.core.db, all)).toMatchObject([
      { channelId: 4, responseTime: 812, isSuccess: true, balance: '12.50' },
      { channelId: 5, responseTime: 1, testTime: SECONDS, balance: '0', balanceUpdatedTime: 0 },
    ])
  })

  it('a failed test stores its reason and not its response time', async () => {
    const position = await fixture.append([tested(4, 812), tested(4, 3, 'status-401')])
    await fixture.settled(position)
    expect(await changedChecks(fixture.core.db, all)).toMatchObject([
      { responseTime: 812, isSuccess: false, reason: 'status-401', changedPosition: position },
    ])
    expect(await changedChecks(fixture.core.db, { after: position, upTo: 1_000 })).toEqual([])
  })
})

describe('test runs over all channels', () => {
  it('a run counts its tests over all lanes, from its start to its end', async () => {
    expect(await latestTestRun(fixture.core.db)).toBeNull()
    await fixture.settled(
      await fixture.append([run('ChannelTestRunStarted', { run: 'a', total: 9 })]),
    )
    const ids = [1, 2, 3, 4, 5, 6, 7, 8, 9]
    const tests = ids.map((id) => tested(id, 100, id > 7 ? 'timeout' : '', 'a'))
    await fixture.settled(await fixture.append([...tests, tested(1, 100)]))
    expect(await latestTestRun(fixture.core.db)).toMatchObject({
      run: 'a',
      total: 9,
      tested: 9,
      failed: 2,
      startedTime: SECONDS,
      endedTime: 0,
    })
    const ended = { run: 'a', tested: 9, failed: 2 }
    await fixture.settled(await fixture.append([run('ChannelTestRunEnded', ended, NOW + 5_000)]))
    expect(await latestTestRun(fixture.core.db)).toMatchObject({ endedTime: SECONDS + 5 })
    await fixture.settled(
      await fixture.append([run('ChannelTestRunStarted', { run: 'b', total: 1 })]),
    )
    expect(await latestTestRun(fixture.core.db)).toMatchObject({
      run: 'b',
      tested: 0,
      endedTime: 0,
    })
  })

  it('the latest run keeps the result of each existing channel, failures first', async () => {
    const facts = [
      ...[1, 2, 3].map((id) => channelCreated(id, `c${id}`)),
      tested(1, 40, '', 'a'),
      tested(2, 900, 'timeout', 'a'),
      tested(3, 70, '', 'a'),
      // These two are not part of the run: a single test, and a test of a deleted channel.
      tested(2, 30),
      tested(4, 5, 'cut', 'a'),
    ]
    await fixture.settled(await fixture.append(facts))
    const found = await runResults(fixture.core.db, 'a')
    expect(found.map(({ name, reason, durationMs }) => [name, reason, durationMs])).toEqual([
      ['c2', 'timeout', 900],
      ['c3', '', 70],
      ['c1', '', 40],
    ])
    expect((await findChannel(fixture.core.db, 2))?.testFailure).toBe('')
    await fixture.settled(await fixture.append([tested(2, 3, 'status-401')]))
    expect((await findChannel(fixture.core.db, 2))?.testFailure).toBe('status-401')
    expect(await runResults(fixture.core.db, 'b')).toEqual([])
  })

  it('the runs are the same after a rebuild', async () => {
    const facts = [
      run('ChannelTestRunStarted', { run: 'a', total: 2 }),
      tested(1, 5, '', 'a'),
      tested(2, 5, 'cut', 'a'),
      balance(2, '3'),
      run('ChannelTestRunEnded', { run: 'a', tested: 2, failed: 1 }),
    ]
    await fixture.settled(await fixture.append(facts))
    const verdicts = await fixture.runner.verify('channel-checks')
    expect(verdicts.length).toBeGreaterThan(0)
    expect(verdicts.every(({ isEqual }) => isEqual)).toBe(true)
  })
})
