import type { Core } from '#infra/core-dependencies.ts'
import { laneOf } from '#infra/event-bus/lane-of-stream.ts'
import type { FoldContext, Projection } from '../projection.ts'
import type { LanePositions } from './checkpoints.ts'
import { createTables, inTransaction } from './create-read-model-tables.ts'
import { fold } from './fold-events.ts'
import { writeChanges } from './write-row-changes.ts'

const BATCH = 2_000

/**
 * Creates a projection's tables in `schema` and folds each lane up to its position in `upTo`.
 */
export async function foldIntoNewTables(
  core: Core,
  projection: Projection,
  context: FoldContext,
  schema: string,
  upTo: LanePositions,
): Promise<void> {
  await inTransaction(core.pg, (client) => createTables(client, projection, schema))
  await continueFold(core, projection, context, schema, 0, upTo)
}

/**
 * Folds further events into a schema that is not in use yet. These are the events after `after`, up
 * to the position of their lane in `upTo`.
 */
export async function continueFold(
  core: Core,
  projection: Projection,
  context: FoldContext,
  schema: string,
  after: number,
  upTo: LanePositions,
): Promise<void> {
  const end = Math.max(...upTo)
  let position = after
  while (position < end) {
    const events = await core.store.readAll(position, BATCH)
    const last = events.at(-1)
    if (last === undefined) return
    const changes = await fold(
      projection,
      events,
      (event) => event.position <= (upTo[laneOf(event.stream)] ?? 0),
      context,
    )
    await inTransaction(
      core.pg,
      (client) => writeChanges(client, [{ projection, schema, changes }]),
      { begin: 'begin; set local synchronous_commit = off' },
    )
    position = last.position
  }
}
