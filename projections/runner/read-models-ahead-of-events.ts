import { setTimeout as delay } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import type { Core } from '#infra/core-dependencies.ts'
import { ensureSchema } from '#infra/postgres/ensure-schema.ts'
import { CHECKPOINT_SCHEMA, CHECKPOINT_TABLE } from '../checkpoint-table.ts'
import { PROJECTION_NAMES, type ProjectionName } from '../projection-names.ts'
import { readCheckpoints } from './checkpoints.ts'

/** Describes a read model that includes events which the store does not have. */
export type AheadOfEvents = {
  /** The highest position that the read model had reached. */
  readonly reached: number
  /** The last position of the store when the read model was found to be ahead of the store. */
  readonly head: number
}

export const describeAhead = ({ reached, head }: AheadOfEvents): string =>
  `read models have read up to ${reached}, but only ${head} events are here`

/**
 * The maximum number of times that the last position of the event store is read. More than one read
 * is needed, because a replica of the store may lag.
 */
const HEAD_READS = 5
const HEAD_READ_INTERVAL_MS = 200

export const ensureCheckpointTables = (pg: Pool): Promise<void> =>
  ensureSchema(pg, CHECKPOINT_SCHEMA, CHECKPOINT_TABLE)

/**
 * Finds read models that are ahead of the events. This happens if the end of the history was cut
 * off, or if an older backup of the events was restored. Such read models are recorded until they
 * are rebuilt, because new events would soon take positions that the read model counts as read.
 * Returns all recorded read models.
 */
export async function recordAheadOfEvents({
  pg,
  store,
}: Pick<Core, 'pg' | 'store'>): Promise<Map<ProjectionName, AheadOfEvents>> {
  // The checkpoints are read before the store's last position, so that events that are appended in
  // between cannot make a read model appear to be ahead.
  const checkpoints = await readCheckpoints(pg)
  // Only the read models of this release are checked. A read model that only an earlier release had
  // keeps its checkpoint, but is never rebuilt.
  const reached = PROJECTION_NAMES.map((name) => {
    return { name, position: Math.max(0, ...(checkpoints.get(name)?.positions ?? [])) }
  })
  const highest = Math.max(0, ...reached.map(({ position }) => position))
  let head = await store.headPosition()
  for (let reads = 1; head < highest && reads < HEAD_READS; reads += 1) {
    await delay(HEAD_READ_INTERVAL_MS)
    head = await store.headPosition()
  }
  const ahead = reached.filter(({ position }) => position > head)
  if (ahead.length > 0) {
    // A read model that was rebuilt in the meantime has another position, and is not recorded.
    await pg.query(
      `insert into projections.ahead_of_events (name, reached, head)
       select name, found.reached, $3
       from unnest($1::text[], $2::int8[]) as found (name, reached)
       join projections.checkpoint c using (name)
       group by name, found.reached having max(c.position) = found.reached
       on conflict (name) do nothing`,
      [ahead.map(({ name }) => name), ahead.map(({ position }) => position), head],
    )
  }
  return await readAheadOfEvents(pg)
}

/** Returns the recorded read models. A rebuild removes a read model from the record. */
export async function readAheadOfEvents(
  pg: Pool | PoolClient,
): Promise<Map<ProjectionName, AheadOfEvents>> {
  const { rows } = await pg.query<{ name: ProjectionName; reached: string; head: string }>(
    'select name, reached, head from projections.ahead_of_events',
  )
  return new Map(
    rows.map(({ name, reached, head }) => [name, { reached: Number(reached), head: Number(head) }]),
  )
}

/**
 * Returns the read model that has reached the highest position, or null if none is ahead of the
 * events.
 */
export const furthestAhead = (
  ahead: ReadonlyMap<ProjectionName, AheadOfEvents>,
): AheadOfEvents | null =>
  [...ahead.values()].reduce<AheadOfEvents | null>(
    (furthest, one) => (furthest === null || one.reached > furthest.reached ? one : furthest),
    null,
  )
