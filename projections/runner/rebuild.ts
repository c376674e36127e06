import type { Core } from '#infra/core.ts'
import { schemaOf } from '../names.ts'
import type { FoldContext, Projection } from '../projection.ts'
import { definitionOf } from './checkpoints.ts'
import { foldAnew, foldOn } from './fresh-fold.ts'
import { inTransaction, oneAtATime } from './read-model.ts'

/**
 * Fills a new version of a read model beside the live one, which goes on being read and moved, and
 * swaps the two in one transaction. Answers the position of the new one. A rebuild that dies leaves
 * the live one as it was; the next rebuild throws its remains away.
 */
export const rebuildReadModel = (
  core: Core,
  projection: Projection,
  context: FoldContext,
): Promise<number> =>
  oneAtATime(core.pg, `rebuild:${projection.name}`, () => rebuildAlone(core, projection, context))

async function rebuildAlone(
  core: Core,
  projection: Projection,
  context: FoldContext,
): Promise<number> {
  const live = schemaOf(projection.name)
  const next = `${live}_next`
  const reached = await core.store.headPosition()
  await foldAnew(core, projection, context, next, reached)
  return inTransaction(core.pg, async (client) => {
    // Holds the live one still: from here on it is not moved until the swap is done.
    const { rows } = await client.query<{ position: string }>(
      'select position from projections.checkpoint where name = $1 for update',
      [projection.name],
    )
    const position = Math.max(reached, Number(rows[0]?.position ?? 0))
    await foldOn(core, projection, context, next, reached, position)
    await client.query(`drop schema ${live} cascade; alter schema ${next} rename to ${live}`)
    await client.query(
      'update projections.checkpoint set position = $2, definition = $3 where name = $1',
      [projection.name, position, definitionOf(projection)],
    )
    return position
  })
}
