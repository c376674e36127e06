import type { Core } from '#infra/core.ts'
import { ALL_LANES } from '#infra/event-bus/lanes.ts'
import { schemaOf } from '../names.ts'
import type { FoldContext, Projection } from '../projection.ts'
import { type LanePositions, readCheckpoints, writeCheckpoint } from './checkpoints.ts'
import { foldAnew, foldOn } from './fresh-fold.ts'
import { inTransaction, oneAtATime } from './read-model.ts'

/** Longer than the last events take; a process that stands still in the swap is then ended. */
const IDLE_MAX_MS = 30_000

/**
 * Fills a new version of a read model beside the live one, which goes on being read and moved, and
 * swaps the two in one transaction. Answers where the lanes of the new one are. A rebuild that dies
 * leaves the live one as it was; the next rebuild throws its remains away.
 *
 * `isNeeded` is asked once no other process rebuilds it; without need, null is answered.
 */
export const rebuildReadModel = (
  core: Core,
  projection: Projection,
  context: FoldContext,
  isNeeded: () => Promise<boolean> = async () => true,
): Promise<LanePositions | null> =>
  oneAtATime(core.pg, `rebuild:${projection.name}`, async () =>
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
  await foldAnew(core, projection, context, next, begun)
  return inTransaction(core.pg, async (client) => {
    // Holds all read models still, whoever moves them: no lane moves until the swap is done.
    await client.query(`set local idle_in_transaction_session_timeout = ${IDLE_MAX_MS};
      lock table projections.checkpoint in share row exclusive mode`)
    const found = (await readCheckpoints(client)).get(projection.name)
    const positions = begun.map((begin, lane) => Math.max(begin, found?.positions[lane] ?? 0))
    await foldOn(core, projection, context, next, reached, positions)
    await client.query(`drop schema ${live} cascade; alter schema ${next} rename to ${live}`)
    await writeCheckpoint(client, projection, positions)
    return positions
  })
}
