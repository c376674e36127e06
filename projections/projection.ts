import type { Fact, Recorded, Sealed } from '#domain/shared/event.ts'
import type { ProjectionName } from './names.ts'
import type { RowChanges } from './runner/row-changes.ts'

/** What a handler may read from outside the events while it folds. */
export type FoldContext = {
  /** Decrypts a text; empty once the user's data key was destroyed. */
  readonly open: (userId: number, sealed: Sealed) => Promise<string>
  /** A text that the vault keeps for a message; empty once it was deleted there. */
  readonly messageText: (messageId: number, textRef: string) => Promise<string>
}

/** Turns one event into row changes; the same event always gives the same changes. */
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
   * A column of unix seconds. The table is partitioned by its month (UTC), with partitions made on
   * demand.
   */
  readonly monthColumn?: string
  /**
   * Streams of several lanes change the same rows, by adding to cells or by setting cells that no
   * other lane sets. These rows are written last and in the order of their keys, so that lanes of
   * several processes wait for each other only briefly and never deadlock.
   */
  readonly isShared?: true
}

/** Folds events into a read model. The keys of its handlers are the event types that it reads. */
export type Projection = {
  readonly name: ProjectionName
  /** Increased when handlers produce other rows than before, which rebuilds the read model. */
  readonly version: number
  /** DDL with unqualified names; it runs inside the projection's own schema. */
  readonly sql: string
  readonly tables: Readonly<Record<string, TableShape>>
  readonly handlers: ReadonlyMap<string, Handler<Fact>>
  /** The newest version of each event type that the handlers support; 1 for types left out. */
  readonly newest?: Readonly<Record<string, number>>
}

/**
 * Defines a projection of the events `E`: handlers are checked by type here, and looked up by name
 * later.
 */
export const projectionOf = <E extends Fact>(
  parts: Omit<Projection, 'handlers'> & { readonly handlers: Handlers<E> },
): Projection => ({
  ...parts,
  handlers: new Map(Object.entries(parts.handlers) as [string, Handler<Fact>][]),
})
