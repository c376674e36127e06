import type { Pool } from 'pg'
import type { Recorded } from '#domain/shared/event.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { laneOf } from '#infra/event-bus/lane-of-stream.ts'
import { inTransaction } from '#infra/postgres/in-transaction.ts'
import type { FoldContext, Projection } from '../projection.ts'
import type { LanePositions } from './checkpoints.ts'
import { createIndexes, createTables, dropIndexes } from './create-read-model-tables.ts'
import { fold } from './fold-events.ts'
import type { TypesOfTables } from './insert-rows-with-copy.ts'
import { RowChanges } from './row-changes.ts'
import { type TableChanges, writeChanges } from './write-row-changes.ts'

/**
 * The number of events per page. Pages are small, so that the memory of each page is freed early.
 */
const PAGE = 500

/**
 * The number of events that are folded before the number of changes is checked, because an event
 * may change a thousand rows.
 */
const SLICE = 25

/** The maximum number of row changes that are kept in memory to be merged with later changes. */
const KEPT_MAX = 30_000

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
  /** False for tables that are read only once and completely. The default is true. */
  readonly withIndexes?: boolean
}

/**
 * Creates the tables of projections in new schemas and folds each lane up to its position in
 * `upTo`. The events are read once for all projections. The indexes of tables whose rows are never
 * changed are created at the end, unless `withIndexes` is false.
 */
export async function foldIntoNewTables(
  core: Core,
  context: FoldContext,
  targets: readonly FoldTarget[],
  options: FoldOptions = {},
): Promise<void> {
  const indexes: string[] = []
  for (const { projection, schema } of targets) {
    const { tables } = projection
    const appendOnly = Object.keys(tables).filter((table) => tables[table]?.isAppendOnly === true)
    await inTransaction(core.pg, async (client) => {
      await createTables(client, projection, schema)
      indexes.push(...(await dropIndexes(client, schema, appendOnly)))
    })
  }
  await continueFold(core, context, targets, 0, options)
  if (options.withIndexes === false) return
  const tables = targets.flatMap(({ projection, schema }) =>
    Object.keys(projection.tables).map((table) => `${schema}.${table}`),
  )
  await createIndexes(core.pg, indexes, tables, options.signal)
}

/**
 * Folds more events into schemas that are not in use yet: the events after `after`, up to the
 * position of their lane in `upTo`. While one page is written, the next page is folded and the page
 * after it is read. Sums are kept in memory over many pages, so that each row is written only a few
 * times.
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
  const folds = targets.map((target) => ({ ...target, changes: new RowChanges() }))
  const writer = new PageWriter(core.pg)
  let next: Promise<readonly Recorded[]> = core.store.readAll(after, PAGE)
  try {
    for (let position = after; position < end; onProgress(position - after, end - after)) {
      const events = await next
      const last = events.at(-1)
      if (last === undefined) break
      signal?.throwIfAborted()
      position = last.position
      if (position < end) next = core.store.readAll(position, PAGE)
      // A failure is reported when the promise is awaited.
      next.catch(() => {})
      for (let from = 0; from < events.length; from += SLICE) {
        const slice = events.slice(from, from + SLICE)
        for (const fold of folds) await foldPage(fold, slice, context)
        const isLast = from + SLICE >= events.length
        if (isLast || sizeOf(folds) > KEPT_MAX) await writer.write(takeDue(folds, KEPT_MAX))
      }
    }
    await writer.write(takeDue(folds, 0))
  } finally {
    await writer.end()
  }
}

type Fold = FoldTarget & { readonly changes: RowChanges }

async function foldPage(
  { projection, upTo, changes }: Fold,
  events: readonly Recorded[],
  context: FoldContext,
): Promise<void> {
  const isWithin = isWithinLanes(upTo, events.at(-1)?.position ?? 0)
  await fold(projection, events, isWithin, context, changes)
}

/**
 * Returns a filter that selects the events up to the position of their lane in `upTo`. Returns null
 * if the filter would select every event up to `last`.
 */
const isWithinLanes = (upTo: LanePositions, last: number) =>
  upTo.every((position) => position >= last)
    ? null
    : (event: Recorded) => event.position <= (upTo[laneOf(event.stream)] ?? 0)

const sizeOf = (folds: readonly Fold[]): number =>
  folds.reduce((sum, { changes }) => sum + changes.size, 0)

/**
 * Removes and returns the changes that must be written now. If more than `keptMax` changes are in
 * memory, all of them must be written. If a projection has changes to all rows that match a
 * condition (`wide`), all its changes must be written. In any other case, only the changes that
 * cannot be merged with later changes must be written.
 */
function takeDue(folds: readonly Fold[], keptMax: number): TableChanges[] {
  const size = sizeOf(folds)
  return folds.map(({ projection, schema, changes }) => ({
    ...{ projection, schema },
    changes: changes.take(size > keptMax || changes.wide.length > 0),
  }))
}

/** Writes pages one after another. The next page can be folded at the same time. */
class PageWriter {
  readonly #pg: Pool
  readonly #types: TypesOfTables = new Map()
  #writing = Promise.resolve()

  constructor(pg: Pool) {
    this.#pg = pg
  }

  /** Waits until the previous page is written, and starts to write this page. */
  async write(changes: readonly TableChanges[]): Promise<void> {
    const earlier = this.#writing
    this.#writing = earlier.then(() =>
      inTransaction(
        this.#pg,
        (client) => writeChanges(client, changes, { types: this.#types, isOnlyWriter: true }),
        { begin: 'begin; set local synchronous_commit = off' },
      ),
    )
    // A failure is reported when the promise is awaited.
    this.#writing.catch(() => {})
    await earlier
  }

  async end(): Promise<void> {
    await this.#writing
  }
}
