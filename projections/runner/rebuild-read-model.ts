import type { Core } from '#infra/core-dependencies.ts'
import { ALL_LANES } from '#infra/event-bus/lane-of-stream.ts'
import { inTransaction } from '#infra/postgres/in-transaction.ts'
import type { FoldContext, Projection } from '../projection.ts'
import { type ProjectionName, schemaOf } from '../projection-names.ts'
import { foldedSchemaOf, foldingLockOf } from '../rebuild-and-verification-schemas/query.ts'
import { type LanePositions, readCheckpoints, writeCheckpoint } from './checkpoints.ts'
import { withNamedLocks } from './create-read-model-tables.ts'
import { continueFold, type FoldOptions, foldIntoNewTables } from './fold-into-new-tables.ts'
import { ensureCheckpointTables } from './read-models-ahead-of-events.ts'

/**
 * The maximum idle time in milliseconds during the swap. After this time, Postgres ends the
 * transaction of the stalled process. Folding the last events takes less time.
 */
const IDLE_MAX_MS = 30_000

/**
 * The maximum number of rounds. Each round folds the events that were added during the previous
 * round. The rounds end early when fewer than `REST_MAX` events were added.
 */
const CATCH_UP_MAX = 5
const REST_MAX = 1_000

/** The positions by lane (stream partition) that each read model has reached. */
export type Rebuilt = ReadonlyMap<ProjectionName, LanePositions>

/**
 * Builds read models in separate schemas, and then replaces the live schemas with these schemas in
 * one transaction. The events are read once for all read models. The live versions stay readable
 * and keep advancing until the swap. After a failure or an abort, the live versions are unchanged,
 * and the unfinished schemas are dropped. If the process is killed, `dropUnfinishedReadModels`
 * drops the unfinished schemas. Returns the new positions. `selectNeeded` returns the projections
 * that still need a rebuild. It is called while the rebuild locks are held.
 */
export async function rebuildReadModels(
  core: Core,
  projections: readonly Projection[],
  context: FoldContext,
  options: FoldOptions = {},
  selectNeeded = async (all: readonly Projection[]): Promise<readonly Projection[]> => all,
): Promise<Rebuilt> {
  const locks = projections.map(({ name }) => foldingLockOf('rebuild', name))
  await ensureCheckpointTables(core.pg)
  return await withNamedLocks(core.pg, locks, async () => {
    const needed = await selectNeeded(projections)
    if (needed.length === 0) return new Map()
    try {
      return await rebuildTogether(core, needed, context, options)
    } catch (error) {
      await dropQuietly(core, needed)
      throw error
    }
  })
}

/**
 * Drops the unfinished schemas of a rebuild that failed. These schemas contain personal data, which
 * an erasure would not find there. A failure is only logged, because the error of the rebuild
 * matters more to the caller, and the background cleanup tries again.
 */
async function dropQuietly({ pg, log }: Core, projections: readonly Projection[]): Promise<void> {
  const schemas = projections.map(({ name }) => foldedSchemaOf('rebuild', name))
  await inTransaction(pg, (client) =>
    client.query(schemas.map((schema) => `drop schema if exists ${schema} cascade`).join(';')),
  ).catch((err: unknown) => log.warn({ err }, 'an unfinished rebuild could not be removed yet'))
}

async function rebuildTogether(
  core: Core,
  projections: readonly Projection[],
  context: FoldContext,
  options: FoldOptions,
): Promise<Rebuilt> {
  let reached = await core.store.headPosition()
  const targetsUpTo = (position: number) =>
    projections.map((projection) => {
      const schema = foldedSchemaOf('rebuild', projection.name)
      return { projection, schema, upTo: ALL_LANES.map(() => position) }
    })
  const targets = targetsUpTo(reached)
  await foldIntoNewTables(core, context, targets, options)
  // Most of the events that were added during the fold are folded here, so that only a few events
  // are folded under the lock.
  for (let rounds = 0; rounds < CATCH_UP_MAX; rounds += 1) {
    const head = await core.store.headPosition()
    await continueFold(
      core,
      context,
      targetsUpTo(head),
      reached,
      options.signal === undefined ? {} : { signal: options.signal },
    )
    const rest = head - reached
    reached = head
    if (rest < REST_MAX) break
  }
  return inTransaction(core.pg, async (client) => {
    // The lock blocks all processes that write read models, so that no lane moves before the swap.
    await client.query(`set local idle_in_transaction_session_timeout = ${IDLE_MAX_MS};
      lock table projections.lane in share row exclusive mode`)
    options.signal?.throwIfAborted()
    const checkpoints = await readCheckpoints(client)
    const head = Math.max(reached, await core.store.headPosition())
    const ends = targets.map((target) => {
      const { positions } = checkpoints.get(target.projection.name) ?? { positions: [] }
      // The live version may be ahead of the events. The new version must not skip the events that
      // will take these positions.
      const upTo = target.upTo.map((_, lane) =>
        Math.min(head, Math.max(reached, positions[lane] ?? 0)),
      )
      return { ...target, upTo }
    })
    await continueFold(core, context, ends, reached)
    for (const { projection, schema, upTo } of ends) {
      const live = schemaOf(projection.name)
      await client.query(`drop schema ${live} cascade; alter schema ${schema} rename to ${live}`)
      await writeCheckpoint(client, projection, upTo)
    }
    return new Map(ends.map(({ projection, upTo }) => [projection.name, upTo]))
  })
}
