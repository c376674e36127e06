import { randomUUID } from 'node:crypto'
import type { PoolClient } from 'pg'
import { type Logger, pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ALL_LANES, laneOf } from '#infra/event-bus/lane-of-stream.ts'
import { PROJECTION_NAMES } from '#projections/projection-names.ts'
import { createFreshness } from '#projections/read-model-freshness/query.ts'
import { type ProjectionRunner, startProjections } from '#projections/runner/start-projections.ts'
import { budget } from '#test/support/time-limit.ts'
import {
  aCall,
  admitted,
  budgetSet,
  channelChanged,
  channelCreated,
  type Fixture,
  type Given,
  granted,
  NOW,
  type OtherProcess,
  projectionFixture,
  settledCall,
  tokenCreated,
  userCreated,
  usernameClaimed,
} from './fixture.ts'
import { accepted, aDrawing, begun, submitted, succeeded } from './task-facts.ts'

let fixture: Fixture
const runners: ProjectionRunner[] = []
const others: OtherProcess[] = []

beforeEach(async () => {
  fixture = await projectionFixture()
})
afterEach(async () => {
  for (const runner of runners.splice(0)) await runner.stop()
  for (const other of others.splice(0)) await other.close()
  await fixture.close()
})

/** Starts a runner in a simulated process. The first runner runs in the fixture's process. */
async function another(log?: Logger): Promise<ProjectionRunner> {
  const process = await fixture.beside()
  others.push(process)
  const runner = await startProjections({ ...process.core, ...(log && { log }) })
  runners.push(runner)
  return runner
}

const lanesOf = (runner: ProjectionRunner): number => runner.health()[0]?.lanes ?? 0

const areDivided = (all: readonly ProjectionRunner[], sizes: readonly number[]) =>
  expect.poll(() => all.map(lanesOf).toSorted()).toEqual(sizes)

/** Calls of many users to the same few channels and models, in this hour and month. */
const calls = (count: number, at = NOW): Given[] =>
  Array.from({ length: count }, (_, i) => {
    const model = `sim-${i % 3}`
    const call = aCall({ userId: 1 + (i % 40), tokenId: 1 + (i % 40), model })
    return [admitted(call, at), settledCall(call, 10 + i, at, 1 + (i % 2))]
  }).flat()

/** Adds the same number of drawing tasks, half of which end. */
const callsAndTasks = (count: number): Given[] => [
  ...calls(count),
  ...Array.from({ length: count }, (_, i) => {
    const drawing = aDrawing(randomUUID(), 1 + (i % 40))
    const end = i % 2 === 0 ? [succeeded(drawing)] : []
    return [submitted(drawing), accepted(drawing), begun(drawing), ...end]
  }).flat(),
]

/** Each call changes a separate row of the tables that all lanes share. */
const callsOfManyModels = (count: number, at: number): Given[] =>
  calls(count, at).map((given, i) => {
    const number = ((i * 7) % 300) >> 1
    return { ...given, data: { ...given.data, model: `m-${number}`, channelId: number } }
  })

const site = (): Given[] => [
  ...[channelCreated(1, 'a'), channelCreated(2, 'b')],
  ...Array.from({ length: 40 }, (_, i) => [
    userCreated(i + 1, `user${i + 1}`),
    usernameClaimed(i + 1, `user${i + 1}`),
    tokenCreated(i + 1, i + 1, 'one'),
    granted(i + 1, 1_000_000),
    budgetSet(i + 1, i + 1, 500_000),
  ]).flat(),
]

async function everythingIsFolded(runner: ProjectionRunner): Promise<void> {
  const head = await fixture.core.store.headPosition()
  await expect.poll(() => lowest(), { interval: 30 }).toBe(head)
  const verdicts = await runner.verify()
  expect(verdicts.filter(({ isEqual }) => !isEqual)).toEqual([])
  expect(verdicts.map(({ position }) => position)).toEqual(verdicts.map(() => head))
}

async function lowest(): Promise<number> {
  const { rows } = await fixture.core.pg.query<{ position: string }>(
    'select min(position) as position from projections.checkpoint',
  )
  return Number(rows[0]?.position)
}

describe('several projection processes', () => {
  it('the processes share the lanes under load and write the fold of the events', async () => {
    const one = await another()
    await fixture.append(site())
    for (let i = 0; i < 20; i += 1) await fixture.append(callsAndTasks(5))
    const two = await another()
    for (let i = 0; i < 40; i += 1) await fixture.append(callsAndTasks(5))
    await areDivided([one, two], [4, 4])
    const three = await another()
    for (let i = 0; i < 40; i += 1) await fixture.append(callsAndTasks(5))
    await areDivided([one, two, three], [2, 3, 3])
    await fixture.append(callsAndTasks(50))
    await everythingIsFolded(two)
    await one.stop()
    await fixture.append(callsAndTasks(50))
    await areDivided([two, three], [4, 4])
    await everythingIsFolded(three)
  })

  it('processes that start at once create the read models of an empty database', async () => {
    await fixture.close()
    fixture = await projectionFixture({ isEmpty: true })
    await fixture.append(site())
    const four = await Promise.all([another(), another(), another(), another()])
    await everythingIsFolded(four[0])
  })

  it('the processes never deadlock on the rows they share', async () => {
    await fixture.append(site())
    const warnings: string[] = []
    const log = pino({ level: 'warn' }, { write: (line: string) => warnings.push(line) })
    const four = await Promise.all([another(log), another(log), another(log), another(log)])
    await areDivided(four, [2, 2, 2, 2])
    for (let round = 0; round < 20; round += 1) {
      const month = Date.UTC(2024, round % 12, 3)
      await fixture.append(callsOfManyModels(240, month))
    }
    await everythingIsFolded(four[0])
    expect(warnings).toEqual([])
    expect(four.every((runner) => runner.isHealthy())).toBe(true)
  })

  it('a paused process cannot commit after its lanes were taken over', async () => {
    const process = await fixture.beside()
    others.push(process)
    const asked: boolean[] = []
    const { bus, leases } = process.core
    const watched: typeof bus = {
      ...bus,
      work: (name, worker) => {
        const work = bus.work(name, worker)
        const isStillMine = async (client: PoolClient, lanes: readonly number[]) => {
          asked.push(await work.isStillMine(client, lanes))
          return asked.at(-1) ?? false
        }
        return { ...work, isStillMine }
      },
    }
    const zombie = await startProjections({ ...process.core, bus: watched })
    runners.push(zombie)
    await expect.poll(() => lanesOf(zombie)).toBe(8)
    // Simulates that another process takes over the lanes while the zombie is suspended.
    await fixture.core.pg.query(
      `update leases.leases set fence = fence + 1, owner = 'other',
         expires_at = clock_timestamp() + interval '1 s' where owner = $1`,
      [leases.owner],
    )
    await fixture.append(site())
    await expect.poll(() => asked.includes(false)).toBe(true)
    expect(await lowest()).toBe(0)
    await everythingIsFolded(zombie)
  })

  it('readers in other processes learn of progress soon and poll rarely when idle', async () => {
    await another()
    await fixture.append(site())
    const process = await fixture.beside()
    others.push(process)
    let asked = 0
    const { db } = process.core
    const counting = {
      ...db,
      any: (...query: Parameters<typeof db.any>) => {
        asked += 1
        return db.any(...query)
      },
    } as typeof db
    const freshness = createFreshness({ ...process.core, db: counting })
    const reported: number[] = []
    freshness.onAdvance((positions) => reported.push(positions.get('call-log') ?? 0))
    const first = await fixture.core.store.headPosition()
    expect(await freshness.waitFor(['call-log'], first, 5_000)).toBe(true)
    const tookMs: number[] = []
    for (let i = 0; i < 5; i += 1) {
      const position = await fixture.append(calls(1))
      const startedAt = performance.now()
      await expect
        .poll(() => Math.max(...reported), { interval: 5 })
        .toBeGreaterThanOrEqual(position)
      tookMs.push(performance.now() - startedAt)
    }
    // Only the shortest time is checked, because the others depend on the load of the machine.
    expect(Math.min(...tookMs)).toBeLessThan(budget(150))
    await expect.poll(() => freshness.positionOf('users')).toBeGreaterThan(first)
    const before = asked
    await new Promise((resume) => setTimeout(resume, 1_000))
    expect(asked - before).toBeLessThan(8)
    await freshness.stop()
  })

  it('one process rebuilds a read model while others update it', async () => {
    const [one, two] = [await another(), await another()]
    await fixture.append(site())
    await areDivided([one, two], [4, 4])
    const writing = (async () => {
      for (let i = 0; i < 60; i += 1) await fixture.append(callsAndTasks(4))
    })()
    const names = ['balances', 'call-log', 'usage-by-hour', 'tasks', 'open-tasks'] as const
    for (const name of names) await one.rebuild(name)
    await writing
    await everythingIsFolded(two)
  })
})

describe('an event that cannot be folded', () => {
  const poison = (): Given => ({ ...channelChanged(1, 'ChannelsEnabled'), v: 2 })
  const lane = laneOf('channels')

  it('the event stops its projection in its lane, and all others continue', async () => {
    const one = await another()
    await fixture.append(site())
    await everythingIsFolded(one)
    const before = await fixture.core.store.headPosition()
    await fixture.append([poison(), ...calls(100)])
    const head = await fixture.core.store.headPosition()
    const positions = async () => {
      const { rows } = await fixture.core.pg.query<{ lane: number; position: string }>(
        `select lane, position from projections.checkpoint where name = 'channels' order by lane`,
      )
      return rows.map(({ position }) => Number(position))
    }
    const expected = ALL_LANES.map((each) => (each === lane ? before : head))
    await expect.poll(positions).toEqual(expected)
    const found = one.health().find(({ name }) => name === 'channels')
    expect(found).toMatchObject({ state: 'stopped', position: before, lanes: 8 })
    expect(one.isHealthy()).toBe(false)
    // Only these three read models handle events of channels.
    const stopped = () => one.health().filter(({ state }) => state === 'stopped')
    await expect
      .poll(() => stopped().map(({ name }) => name))
      .toEqual(expect.arrayContaining(['channels', 'channel-timeline', 'audit-log']))
    const others = one.health().filter(({ state }) => state === 'live')
    expect(others).toHaveLength(PROJECTION_NAMES.length - 3)
  })

  it('a rebuild in one process repairs the projection stopped in another', async () => {
    const [one, two] = [await another(), await another()]
    await fixture.append(site())
    await areDivided([one, two], [4, 4])
    await everythingIsFolded(one)
    await fixture.core.pg.query('delete from read_channels.channels where id = 1')
    const head = await fixture.append([channelChanged(1, 'ChannelsDisabled')])
    const stopped = () => [one, two].filter((runner) => !runner.isHealthy())
    await expect.poll(() => stopped().length).toBeGreaterThan(0)
    // On a busy machine, the lane may move, and its projection stops in both processes.
    const healthy = [one, two].find((runner) => runner.isHealthy()) ?? two
    await healthy.rebuild('channels')
    await expect.poll(() => one.isHealthy() && two.isHealthy()).toBe(true)
    expect(head).toBeGreaterThan(0)
    await everythingIsFolded(one)
  })
})

const DROP_CHECKPOINTS = `
  drop view projections.checkpoint;
  drop function projections.update_checkpoint;
  drop table projections.lane, projections.definition;`

/** Each takes the checkpoints back to the tables of an earlier release. */
const EARLIER_CHECKPOINTS = {
  'the first release, one per read model': `
    create table projections.older (
      name text primary key,
      position bigint not null check (position >= 0),
      definition text not null
    );
    insert into projections.older
      select name, min(position), min(definition) from projections.checkpoint group by name;
    ${DROP_CHECKPOINTS}
    alter table projections.older rename to checkpoint;
    alter index projections.older_pkey rename to checkpoint_pkey;`,
  'a release with a row for each lane': `
    create table projections.older (
      name text,
      lane int2,
      position bigint not null,
      definition text not null,
      primary key (name, lane)
    );
    insert into projections.older select name, lane, position, definition
      from projections.checkpoint;
    ${DROP_CHECKPOINTS}
    alter table projections.older rename to checkpoint;`,
}

describe.each(Object.entries(EARLIER_CHECKPOINTS))('the checkpoints of %s', (_release, restore) => {
  it('continue in all lanes, and no event is applied twice', async () => {
    const first = await another()
    await fixture.append([...site(), ...calls(20)])
    await everythingIsFolded(first)
    await first.stop()
    const { pg } = fixture.core
    await pg.query(restore)
    const marks = await pg.query('select count(*)::int as n from read_call_log.log')
    await fixture.append(calls(20))
    const [one, two] = await Promise.all([another(), another()])
    await everythingIsFolded(one)
    await areDivided([one, two], [4, 4])
    const { rows } = await pg.query(
      'select count(*)::int as n, count(distinct lane)::int as lanes from projections.checkpoint',
    )
    expect(rows).toEqual([{ n: 8 * PROJECTION_NAMES.length, lanes: 8 }])
    expect(marks.rows).toEqual([{ n: 60 }])
    const verdicts = await one.verify()
    expect(verdicts.filter(({ isEqual }) => !isEqual)).toEqual([])
  })
})

/** The trigger function of earlier builds of this release, which compared only positions. */
const TRIGGER_WITHOUT_DEFINITIONS = `
  create or replace function projections.update_checkpoint() returns trigger language plpgsql
  as $function$ begin
    update projections.lane l set positions[d.ordinal] = new.position
      from projections.definition d
      where l.lane = old.lane and d.name = old.name and l.positions[d.ordinal] = old.position;
    if not found then return null; end if;
    update projections.definition d set definition = new.definition
      where d.name = old.name and d.definition <> new.definition;
    return new;
  end $function$`

describe('a process of an earlier release that still runs', () => {
  /** The statement with which that release moves the checkpoints of two read models in a lane. */
  const move = (definitions: readonly string[], from: number, to: number) =>
    fixture.core.pg.query(
      `update projections.checkpoint c set position = $3
       from unnest(array['channels', 'users'], $1::text[]) as v (name, definition)
       where c.name = v.name and c.definition = v.definition
         and c.lane = any(array[3]::int2[]) and c.position = $2`,
      [definitions, from, to],
    )

  const readDefinitions = async (): Promise<readonly string[]> => {
    const { rows } = await fixture.core.pg.query<{ definition: string }>(
      `select definition from projections.definition
       where name in ('channels', 'users') order by name`,
    )
    return rows.map(({ definition }) => definition)
  }

  const movedCheckpoints = async (from: number) => {
    const { rows } = await fixture.core.pg.query(
      `select name, lane from projections.checkpoint where position <> $1 order by name`,
      [from],
    )
    return rows
  }

  /** Starts the read models of this release, folds the events, and stops. */
  async function foldOnce(): Promise<number> {
    const runner = await another()
    await everythingIsFolded(runner)
    await runner.stop()
    return fixture.core.store.headPosition()
  }

  it('moves only its own checkpoints, each at most once', async () => {
    await fixture.append(site())
    const head = await foldOnce()
    const definitions = await readDefinitions()
    const moving = Array.from({ length: 50 }, () => move(definitions, head, head + 1))
    const moved = await Promise.all(moving)
    expect(moved.map(({ rowCount }) => rowCount).toSorted()).toEqual([
      ...Array.from({ length: 49 }, () => 0),
      2,
    ])
    expect(await movedCheckpoints(head)).toEqual([
      { name: 'channels', lane: 3 },
      { name: 'users', lane: 3 },
    ])
  })

  it.each([
    ['a new database', 'select'],
    ['a database with the earlier trigger', TRIGGER_WITHOUT_DEFINITIONS],
  ])('moves no checkpoint of a read model rebuilt meanwhile, in %s', async (_name, prepare) => {
    await fixture.append(site())
    await foldOnce()
    const { pg } = fixture.core
    await pg.query(prepare)
    const head = await foldOnce()
    const definitions = await readDefinitions()
    const swap = await pg.connect()
    try {
      // The swap of a rebuild takes this lock and keeps the position if no lane moved meanwhile.
      await swap.query('begin; lock table projections.lane in share row exclusive mode')
      const moving = move(definitions, head, head + 1)
      const waiting = `select from pg_locks
        where not granted and relation = 'projections.lane'::regclass
          and database = (select oid from pg_database where datname = current_database())`
      await expect.poll(async () => (await pg.query(waiting)).rowCount).toBe(1)
      await swap.query(`update projections.definition set definition = 'rebuilt'
        where name in ('channels', 'users')`)
      await swap.query('commit')
      expect((await moving).rowCount).toBe(0)
    } finally {
      // Closes the connection, so that a failed test does not keep the lock.
      swap.release(true)
    }
    expect(await readDefinitions()).toEqual(['rebuilt', 'rebuilt'])
    expect(await movedCheckpoints(head)).toEqual([])
  })
})
