import type { Core } from '#infra/core.ts'
import { ALL_LANES } from '#infra/event-bus/lanes.ts'
import type { FoldContext, Projection } from '../projection.ts'
import { schemaOf } from '../projection-names.ts'
import { type LanePositions, readCheckpoints, writeCheckpoint } from './checkpoints.ts'
import { continueFold, foldIntoNewTables } from './fold-into-new-tables.ts'
import { inTransaction, withNamedLock } from './read-model.ts'

/**
 * The limit on idle time inside the transaction that swaps the schemas. The limit is longer than
 * folding the last events takes. Postgres ends the transaction of a process that stalls during the
 * swap.
 */
const IDLE_MAX_MS = 30_000

/**
 * Builds a new version of a read model in a second schema and then swaps the schemas in one
 * transaction. Until the swap, the live version stays readable and keeps advancing. A failed
 * rebuild leaves the live version unchanged, and the next rebuild removes the remains. Returns the
 * positions of the new version's lanes (partitions). `isNeeded` is called under the rebuild lock;
 * when it returns false, nothing is rebuilt and null is returned.
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
    // The lock blocks the writers of all read models, so that no lane moves before the swap is
    // done.
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
