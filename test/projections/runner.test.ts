import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { callLog } from '#projections/logs/projection.ts'
import { PROJECTION_NAMES } from '#projections/projection-names.ts'
import { PROJECTIONS } from '#projections/projection-registry.ts'
import {
  definitionOf,
  HASHES_WITH_COMMENTS,
  readCheckpoints,
} from '#projections/runner/checkpoints.ts'
import { type ProjectionRunner, startProjections } from '#projections/runner/start-projections.ts'
import { users } from '#projections/users/projection.ts'
import {
  aCall,
  admitted,
  budgetSet,
  channelChanged,
  channelCreated,
  costing,
  deducted,
  type Fixture,
  type Given,
  granted,
  identityBound,
  identityUnbound,
  interruptedCall,
  plainTokenCreated,
  projectionFixture,
  releasedCall,
  settledCall,
  tokenCreated,
  tokenRenamed,
  tokensDeleted,
  userCreated,
  userErased,
  usernameClaimed,
} from './fixture.ts'
import { accepted, aDrawing, aSong, begun, failed, submitted, succeeded } from './task-facts.ts'

let fixture: Fixture
let runner: ProjectionRunner | null = null

beforeEach(async () => {
  fixture = await projectionFixture()
})

afterEach(async () => {
  await runner?.stop()
  runner = null
  await fixture.close()
})

/** Returns events of many types that the read models handle. */
function aDay(): Given[] {
  const call = aCall()
  const other = aCall({ model: 'sim-large', isStream: true })
  const lost = aCall()
  const [drawing, song] = [aDrawing(lost.call, 1), aSong(call.call, 1)]
  return [
    userCreated(1, 'root', 100),
    usernameClaimed(1, 'root'),
    ...identityBound(1, 'a1'),
    ...identityUnbound(1, 'a1'),
    ...identityBound(1, 'b2'),
    granted(1, 1_000_000),
    tokenCreated(1, 1, 'first'),
    budgetSet(1, 1, 500_000),
    channelCreated(1, 'simulated'),
    admitted(call),
    costing(settledCall(call, 3_375), 2_025),
    admitted(other),
    releasedCall(other),
    admitted(lost),
    costing(interruptedCall(lost, 225), 135),
    admitted(aCall()),
    submitted(drawing),
    accepted(drawing),
    begun(drawing),
    succeeded(drawing),
    submitted(song),
    failed(song, { channelId: null }),
    deducted(1, 1_000),
    channelChanged(1, 'ChannelAutoDisabled', { reason: '401' }),
  ]
}

const allEqual = async (): Promise<void> => {
  const verdicts = (await runner?.verify()) ?? []
  expect(verdicts.length).toBe(PROJECTION_NAMES.length)
  expect(verdicts.filter(({ isEqual }) => !isEqual)).toEqual([])
}

describe('the projection runner', () => {
  it('the read models are the same event by event, in one batch and replayed', async () => {
    runner = await startProjections(fixture.core)
    for (const given of aDay()) await fixture.append([given])
    await fixture.settled(await fixture.core.store.headPosition())
    await allEqual()
    await runner.rebuild('call-log')
    await runner.rebuild('balances')
    await allEqual()
    await fixture.settled(await fixture.append(aDay().slice(12)))
    await allEqual()
    expect(runner.isHealthy()).toBe(true)
  })

  it('the runner empties only the names of an erased user’s tokens, in any batches', async () => {
    const before = [
      ...[userCreated(1, 'root', 100), userCreated(2, 'gone')],
      ...[plainTokenCreated(1, 2, 'plain'), tokenCreated(2, 2, 'second'), tokenCreated(3, 2, 'x')],
      ...[tokenCreated(4, 1, 'another’s'), plainTokenCreated(5, 1, 'plain')],
      ...[tokenRenamed(1, 2, 'renamed'), tokensDeleted(2, [3]), userErased(2)],
    ]
    const names = async () => {
      const text = 'select name from read_tokens.tokens order by id'
      return (await fixture.core.pg.query(text)).rows.map(({ name }) => name)
    }
    runner = await startProjections(fixture.core)
    for (const given of before) await fixture.settled(await fixture.append([given]))
    expect(await names()).toEqual(['', '', '', 'another’s', 'plain'])
    await allEqual()
    await fixture.settled(await fixture.append([tokenRenamed(5, 1, 'sealed now')]))
    await runner.rebuild('tokens')
    expect(await names()).toEqual(['', '', '', 'another’s', 'sealed now'])
  })

  it('the runner detects a read model that was changed by hand', async () => {
    runner = await startProjections(fixture.core)
    await fixture.settled(await fixture.append(aDay()))
    await fixture.core.pg.query('update read_balances.accounts set balance = balance + 1')
    const verdicts = await runner.verify('balances')
    expect(verdicts.map(({ isEqual }) => isEqual)).toEqual([false])
    await runner.rebuild('balances')
    await allEqual()
  })

  it('the runner applies a batch once, even if it dies between rows and commit', async () => {
    let attempts = 0
    runner = await startProjections(fixture.core, {
      beforeCommit: () => {
        attempts += 1
        if (attempts % 2 === 1) throw Object.assign(new Error('killed'), { code: '57P01' })
      },
    })
    for (const given of aDay()) await fixture.append([given])
    await fixture.settled(await fixture.core.store.headPosition())
    expect(attempts).toBeGreaterThan(1)
    await allEqual()
  })

  it('an event it cannot fold stops only its projections, and health fails', async () => {
    runner = await startProjections(fixture.core)
    await fixture.settled(await fixture.append(aDay()))
    const poison = { ...channelChanged(1, 'ChannelsEnabled'), v: 2 }
    const at = await fixture.append([poison])
    const after = await fixture.append([granted(1, 5)])
    expect(await fixture.freshness.waitFor(['balances', 'call-log'], after, 20_000)).toBe(true)
    const channels = () => runner?.health().find(({ name }) => name === 'channels')
    await expect.poll(channels).toMatchObject({ state: 'stopped', failure: { position: at } })
    expect(channels()?.position).toBeLessThan(at)
    expect(runner.isHealthy()).toBe(false)
    await expect
      .poll(() => runner?.health().filter(({ state }) => state === 'live'))
      // The channels' timeline stops at the event as well.
      .toHaveLength(PROJECTION_NAMES.length - 3)
  })

  it('the runner stops only the projection whose rows the database refuses', async () => {
    runner = await startProjections(fixture.core)
    await fixture.settled(await fixture.append([userCreated(1, 'root', 100)]))
    const after = await fixture.append([channelChanged(99, 'ChannelsEnabled'), granted(1, 5)])
    expect(await fixture.freshness.waitFor(['balances', 'users'], after, 20_000)).toBe(true)
    const stopped = () => runner?.health().find(({ state }) => state === 'stopped')?.name
    await expect.poll(stopped).toBe('channels')
  })

  it('the runner rebuilds a read model whose definition has changed', async () => {
    runner = await startProjections(fixture.core)
    await fixture.settled(await fixture.append(aDay()))
    await runner.stop()
    await fixture.core.pg.query(`update projections.checkpoint set definition = 'older'`)
    await fixture.core.pg.query('delete from read_call_log.log')
    runner = await startProjections(fixture.core)
    await allEqual()
  })

  it('a read model that cannot be rebuilt does not keep others from their rebuild', async () => {
    runner = await startProjections(fixture.core)
    await fixture.settled(await fixture.append(aDay()))
    await fixture.append([{ ...channelChanged(1, 'ChannelsEnabled'), v: 2 }])
    await runner.stop()
    await fixture.core.pg.query(`update projections.checkpoint set definition = 'older'`)
    await fixture.core.pg.query('delete from read_call_log.log')
    runner = await startProjections(fixture.core)
    const failed = () => runner?.health().filter(({ state }) => state === 'stopped')
    const affected = ['audit-log', 'channel-timeline', 'channels']
    await expect
      .poll(() =>
        failed()
          ?.map(({ name }) => name)
          .sort(),
      )
      .toEqual(affected)
    const verdicts = await runner.verify('call-log')
    expect(verdicts.map(({ isEqual }) => isEqual)).toEqual([true])
    expect((await fixture.core.pg.query('select from read_call_log.log')).rowCount).toBeGreaterThan(
      0,
    )
  })

  it('the runner keeps a read model whose stored hash includes SQL comments', async () => {
    runner = await startProjections(fixture.core)
    await fixture.settled(await fixture.append(aDay()))
    await runner.stop()
    const { pg } = fixture.core
    const definition = definitionOf(users)
    const earlier = HASHES_WITH_COMMENTS.get(definition)
    expect(earlier).toBeDefined()
    await pg.query(`update projections.checkpoint set definition = $1 where name = 'users'`, [
      earlier,
    ])
    expect((await pg.query('delete from read_users.users')).rowCount).toBeGreaterThan(0)
    runner = await startProjections(fixture.core)
    expect((await pg.query('select 1 from read_users.users')).rowCount).toBe(0)
    expect((await readCheckpoints(pg)).get('users')?.definition).toBe(definition)
    expect(runner.health().find(({ name }) => name === 'users')?.state).not.toBe('stopped')
  })

  it('a changed comment does not change a definition, but changed SQL does', () => {
    const commented = { ...callLog, sql: `-- Another comment.\n${callLog.sql}` }
    expect(definitionOf(commented)).toBe(definitionOf(callLog))
    const changed = { ...callLog, sql: `${callLog.sql}create index more on log (id);\n` }
    expect(definitionOf(changed)).not.toBe(definitionOf(callLog))
    const next = { ...callLog, version: callLog.version + 1 }
    expect(definitionOf(next)).not.toBe(definitionOf(callLog))
  })

  it('the SQL of every read model has comments only in lines without code', () => {
    const behindCode = PROJECTIONS.filter(({ sql }) => /^[ \t]*[^\s-].*--|\/\*/m.test(sql))
    expect(behindCode.map(({ name }) => name)).toEqual([])
  })

  it('the runner keeps updating a read model while it is rebuilt', async () => {
    runner = await startProjections(fixture.core)
    await fixture.settled(await fixture.append(aDay()))
    const writing = (async () => {
      for (let i = 0; i < 100; i += 1) {
        const call = aCall()
        await fixture.append([admitted(call), settledCall(call, i)])
      }
    })()
    for (const name of ['balances', 'call-log', 'usage-by-hour'] as const) {
      await runner.rebuild(name)
    }
    await writing
    await fixture.settled(await fixture.core.store.headPosition())
    await allEqual()
  })
})
