import type { Core } from '#infra/core-dependencies.ts'
import { ALL_LANES } from '#infra/event-bus/lane-of-stream.ts'
import type { FoldContext, Projection } from '../projection.ts'
import { schemaOf } from '../projection-names.ts'
import { type LanePositions, readCheckpoints, writeCheckpoint } from './checkpoints.ts'
import { inTransaction, withNamedLock } from './create-read-model-tables.ts'
import { continueFold, foldIntoNewTables } from './fold-into-new-tables.ts'

/**
 * The maximum idle time in milliseconds during the swap. When it is exceeded, Postgres ends the
 * transaction of the stalled process. Folding the last events takes less time.
 */
const IDLE_MAX_MS = 30_000

/**
 * Builds a read model in a second schema, and then swaps the schemas in one transaction. The live
 * version stays readable and keeps advancing until the swap. After a failure, it is unchanged, and
 * the next rebuild removes the unfinished schema. Returns the new positions by lane (stream
 * partition), or null if `isNeeded` returns false under the rebuild lock.
 */
export const rebuildReadModel = (
  core: Core,
  projection: Projection,
  context: FoldContext,
  isNeeded: () => Promise<boolean> = async () => true,
): Promise<LanePositions | null> =>
  withNamedLock(core.pg, `rebuild:${projection.name}`, async () =>
    (await isNeeded()) ? rebuildAlone(core, projection, context) : null,
  )

async function rebuildAlone(
  core: Core,
  projection: Projection,
  context: FoldContext,
): Promise<LanePositions> {
  const live = schemaOf(projection.name)
  const next = `${live}_next`
  const reached = await core.store.headPosition()
  const begun = ALL_LANES.map(() => reached)
  await foldIntoNewTables(core, projection, context, next, begun)
  return inTransaction(core.pg, async (client) => {
    // The lock blocks all processes that write read models, so that no lane moves before the swap.
    await client.query(`set local idle_in_transaction_session_timeout = ${IDLE_MAX_MS};
      lock table projections.checkpoint in share row exclusive mode`)
    const found = (await readCheckpoints(client)).get(projection.name)
    const positions = begun.map((begin, lane) => Math.max(begin, found?.positions[lane] ?? 0))
    await continueFold(core, projection, context, next, reached, positions)
    await client.query(`drop schema ${live} cascade; alter schema ${next} rename to ${live}`)
    await writeCheckpoint(client, projection, positions)
    return positions
  })
}
