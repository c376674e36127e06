import type { Pool, PoolClient } from 'pg'
import type { Recorded } from '#domain/shared/event.ts'
import { ALL_LANES, laneOf } from '#infra/event-bus/lane-of-stream.ts'
import type { EventBus, LaneBatch, LaneWork } from '#infra/event-bus/port.ts'
import type { EventStore } from '#infra/event-store/port.ts'

const DDL = `
  create table if not exists applied (
    serial bigserial primary key, name text, lane int, position int8, id text);
  create index if not exists applied_name on applied (name, serial);
  create table if not exists checkpoints (
    name text, lane int, position int8, primary key (name, lane))`

export const createRecordTables = async (pg: Pool): Promise<void> => {
  await pg.query(DDL)
}

export type RecordingWorker = {
  readonly work: LaneWork
  /** The lanes that this worker has at present. */
  readonly lanes: Set<number>
  /**
   * The numbers of batches that were received, written, and rejected because a lane's lease was
   * lost.
   */
  readonly batches: { came: number; written: number; fenced: number }
  readonly stop: () => Promise<void>
}

type Deps = {
  readonly pg: Pool
  readonly store: EventStore
  readonly bus: EventBus
  readonly name: string
  /** Called before a batch is written. It may reject or take long. */
  readonly beforeWrite?: (batch: LaneBatch) => Promise<void> | void
}

/**
 * Starts a worker that processes events as the projections do. In one transaction it checks the
 * leases, writes one row per event and saves the checkpoints of the lanes. Events that were
 * processed before are skipped, and missing events are read from the store.
 */
export function startRecording({ pg, store, bus, name, beforeWrite }: Deps): RecordingWorker {
  const lanes = new Set<number>()
  const batches = { came: 0, written: 0, fenced: 0 }
  const onBatch = async (batch: LaneBatch): Promise<void> => {
    batches.came += 1
    const client = await pg.connect()
    try {
      await client.query('begin')
      if (!(await work.isStillMine(client, batch.lanes))) {
        batches.fenced += 1
        throw new Error('fenced')
      }
      await write(client, store, name, batch, beforeWrite)
      await client.query('commit')
      batches.written += 1
    } catch (error) {
      await client.query('rollback').catch(() => {})
      throw error
    } finally {
      client.release()
    }
  }
  const work: LaneWork = bus.work(name, {
    onGained: async (gained) => {
      for (const lane of gained) lanes.add(lane)
    },
    onLost: (lost) => {
      for (const lane of lost) lanes.delete(lane)
    },
    onBatch,
  })
  return { work, lanes, batches, stop: () => work.stop() }
}

async function write(
  client: PoolClient,
  store: EventStore,
  name: string,
  batch: LaneBatch,
  beforeWrite: Deps['beforeWrite'],
): Promise<void> {
  const checkpoints = await lockCheckpoints(client, name, batch.lanes)
  const from = Math.min(...checkpoints.values())
  const events = from < batch.after ? await readBetween(store, from, batch.position) : batch.events
  await beforeWrite?.(batch)
  const isNew = (event: Recorded): boolean =>
    event.position > (checkpoints.get(laneOf(event.stream)) ?? Number.POSITIVE_INFINITY)
  const newEvents = events.filter(isNew)
  await client.query(
    `insert into applied (name, lane, position, id)
     select $1, * from unnest($2::int[], $3::int8[], $4::text[])`,
    [
      name,
      newEvents.map(({ stream }) => laneOf(stream)),
      newEvents.map(({ position }) => position),
      newEvents.map(({ id }) => id),
    ],
  )
  await client.query(
    `update checkpoints set position = greatest(position, $3)
     where name = $1 and lane = any($2)`,
    [name, batch.lanes, batch.position],
  )
}

async function lockCheckpoints(
  client: PoolClient,
  name: string,
  lanes: readonly number[],
): Promise<Map<number, number>> {
  await client.query(
    `insert into checkpoints select $1, unnest($2::int[]), 0 on conflict do nothing`,
    [name, lanes],
  )
  const { rows } = await client.query<{ lane: number; position: string }>(
    `select lane, position from checkpoints
     where name = $1 and lane = any($2) order by lane for update`,
    [name, lanes],
  )
  return new Map(rows.map(({ lane, position }) => [lane, Number(position)]))
}

async function readBetween(store: EventStore, after: number, upTo: number): Promise<Recorded[]> {
  const found: Recorded[] = []
  for (let at = after; at < upTo; ) {
    const page = (await store.readAll(at, 1_000)).filter(({ position }) => position <= upTo)
    if (page.length === 0) break
    found.push(...page)
    at = page.at(-1)?.position ?? upTo
  }
  return found
}

/**
 * Returns the ids of the events that all workers of this name wrote, by lane and in the order of
 * writing.
 */
export async function applied(pg: Pool, name: string): Promise<string[][]> {
  const { rows } = await pg.query<{ lane: number; id: string }>(
    'select lane, id from applied where name = $1 order by serial',
    [name],
  )
  return ALL_LANES.map((lane) => rows.filter((row) => row.lane === lane).map(({ id }) => id))
}

/**
 * Returns the expected ids: every event of the store after `after`, by lane and in ascending
 * position.
 */
export async function foldOf(store: EventStore, after = 0): Promise<string[][]> {
  const all = await readBetween(store, after, await store.headPosition())
  return ALL_LANES.map((lane) =>
    all.filter(({ stream }) => laneOf(stream) === lane).map(({ id }) => id),
  )
}

/** Returns the lowest checkpoint of the lanes; -1 while a lane has no checkpoint. */
export async function lowestCheckpoint(pg: Pool, name: string): Promise<number> {
  const { rows } = await pg.query<{ count: string; lowest: string }>(
    'select count(*), min(position) as lowest from checkpoints where name = $1',
    [name],
  )
  return Number(rows[0]?.count) < ALL_LANES.length ? -1 : Number(rows[0]?.lowest)
}
