import type { Recorded } from '#domain/shared/event.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { laneOf } from '#infra/event-bus/lane-of-stream.ts'
import type { FoldContext, Projection } from '../projection.ts'
import type { LanePositions } from './checkpoints.ts'
import { createTables, inTransaction } from './create-read-model-tables.ts'
import { fold } from './fold-events.ts'
import { type TableChanges, writeChanges } from './write-row-changes.ts'

const BATCH = 4_000

/** A projection, the schema to fill, and the position up to which each lane is folded. */
export type FoldTarget = {
  readonly projection: Projection
  readonly schema: string
  readonly upTo: LanePositions
}

export type FoldOptions = {
  /** Receives the number of events that were read and the number of all events to read. */
  readonly onProgress?: (done: number, total: number) => void
  readonly signal?: AbortSignal
}

/**
 * Creates the tables of projections in new schemas and folds each lane up to its position in
 * `upTo`. The events are read once for all projections.
 */
export async function foldIntoNewTables(
  core: Core,
  context: FoldContext,
  targets: readonly FoldTarget[],
  options: FoldOptions = {},
): Promise<void> {
  for (const { projection, schema } of targets) {
    await inTransaction(core.pg, (client) => createTables(client, projection, schema))
  }
  await continueFold(core, context, targets, 0, options)
}

/**
 * Folds further events into schemas that are not in use yet. These are the events after `after`, up
 * to the position of their lane in `upTo`. While a batch is written, the next one is folded, and
 * the one after it is read.
 */
export async function continueFold(
  core: Core,
  context: FoldContext,
  targets: readonly FoldTarget[],
  after: number,
  { onProgress = () => {}, signal }: FoldOptions = {},
): Promise<void> {
  const end = Math.max(...targets.flatMap(({ upTo }) => upTo))
  if (after >= end) return
  let next: Promise<readonly Recorded[]> = core.store.readAll(after, BATCH)
  let writing = Promise.resolve()
  try {
    for (let position = after; position < end; onProgress(position - after, end - after)) {
      const events = await next
      const last = events.at(-1)
      if (last === undefined) return
      signal?.throwIfAborted()
      position = last.position
      if (position < end) next = core.store.readAll(position, BATCH)
      // A failure is reported when the promise is awaited.
      next.catch(() => {})
      const writes = await foldTargets(targets, events, context)
      await writing
      writing = inTransaction(core.pg, (client) => writeChanges(client, writes), {
        begin: 'begin; set local synchronous_commit = off',
      })
      writing.catch(() => {})
    }
  } finally {
    await writing
  }
}

const foldTargets = (
  targets: readonly FoldTarget[],
  events: readonly Recorded[],
  context: FoldContext,
): Promise<TableChanges[]> =>
  Promise.all(
    targets.map(async ({ projection, schema, upTo }) => {
      const isWithin = isWithinLanes(upTo, events.at(-1)?.position ?? 0)
      return { projection, schema, changes: await fold(projection, events, isWithin, context) }
    }),
  )

/** Returns a filter for the events within `upTo`, or null if all events up to `last` are. */
const isWithinLanes = (upTo: LanePositions, last: number) =>
  upTo.every((position) => position >= last)
    ? null
    : (event: Recorded) => event.position <= (upTo[laneOf(event.stream)] ?? 0)
