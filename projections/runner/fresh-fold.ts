import type { Core } from '#infra/core.ts'
import type { FoldContext, Projection } from '../projection.ts'
import { fold } from './fold.ts'
import { createTables, inTransaction } from './read-model.ts'
import { writeChanges } from './write-changes.ts'

const BATCH = 2_000

/** Makes the tables of a projection anew in `schema` and folds every event up to `upTo`. */
export async function foldAnew(
  core: Core,
  projection: Projection,
  context: FoldContext,
  schema: string,
  upTo: number,
): Promise<void> {
  await inTransaction(core.pg, (client) => createTables(client, projection, schema))
  await foldOn(core, projection, context, schema, 0, upTo)
}

/** Folds the events after `after` up to `upTo` into tables that nobody reads yet. */
export async function foldOn(
  core: Core,
  projection: Projection,
  context: FoldContext,
  schema: string,
  after: number,
  upTo: number,
): Promise<void> {
  let position = after
  while (position < upTo) {
    const events = (await core.store.readAll(position, BATCH)).filter((e) => e.position <= upTo)
    const last = events.at(-1)
    if (last === undefined) return
    const changes = await fold(projection, events, position, context)
    await inTransaction(
      core.pg,
      (client) => writeChanges(client, projection, schema, changes),
      'begin; set local synchronous_commit = off',
    )
    position = last.position
  }
}
