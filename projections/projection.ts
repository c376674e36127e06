import type { Fact, Recorded, Sealed } from '#domain/shared/event.ts'
import type { ProjectionName } from './projection-names.ts'
import type { RowChanges } from './runner/row-changes.ts'

/** The functions with which a handler reads texts that are not contained in the events. */
export type FoldContext = {
  /** Decrypts a text of a user. Returns an empty text when the user's data key was destroyed. */
  readonly open: (userId: number, sealed: Sealed) => Promise<string>
  /**
   * Reads the text of a message from the vault. Returns an empty text when the vault no longer has
   * the text.
   */
  readonly messageText: (messageId: number, textRef: string) => Promise<string>
}

/** Converts one event to row changes. The same event must always give the same changes. */
export type Handler<E extends Fact> = (
  event: Recorded<E>,
  rows: RowChanges,
  context: FoldContext,
) => void | Promise<void>

export type Handlers<E extends Fact> = {
  readonly [Type in E['type']]?: Handler<Extract<E, { readonly type: Type }>>
}

export type TableShape = {
  readonly key: readonly string[]
  /**
   * A column in unix seconds. The table is partitioned by the UTC month of this column, and
   * partitions are created when they are needed.
   */
  readonly monthColumn?: string
  /**
   * True when events of several lanes (partitions of the streams) change the same rows. Each lane
   * may only add to cells, or set cells that no other lane sets. Shared rows are written last and
   * in the order of their keys, which prevents deadlocks and keeps the waits between processes
   * short.
   */
  readonly isShared?: true
}

/**
 * A projection folds events into a read model. The keys of `handlers` are the event types that the
 * projection reads.
 */
export type Projection = {
  readonly name: ProjectionName
  /**
   * The version of the handlers. A change that makes the handlers produce different rows must
   * increase the version, which causes a rebuild of the read model.
   */
  readonly version: number
  /** The DDL of the tables with unqualified names. The DDL runs in the projection's schema. */
  readonly sql: string
  readonly tables: Readonly<Record<string, TableShape>>
  readonly handlers: ReadonlyMap<string, Handler<Fact>>
  /**
   * The newest version of each event type that the handlers support; 1 for an event type that is
   * not listed.
   */
  readonly newest?: Readonly<Record<string, number>>
}

/**
 * Defines a projection of the events `E`. The types of the handlers are checked here, because a
 * handler is later looked up by the name of its event.
 */
export const projectionOf = <E extends Fact>(
  parts: Omit<Projection, 'handlers'> & { readonly handlers: Handlers<E> },
): Projection => ({
  ...parts,
  handlers: new Map(Object.entries(parts.handlers) as [string, Handler<Fact>][]),
})
