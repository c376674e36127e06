import type { Fact, Recorded, Sealed } from '#domain/shared/event.ts'
import type { ProjectionName } from './projection-names.ts'
import type { RowChanges } from './runner/row-changes.ts'

/** The functions with which an event handler reads texts that are not stored in the events. */
export type FoldContext = {
  /**
   * Decrypts a text that was encrypted with a user's data key. Returns an empty text if the key was
   * destroyed.
   */
  readonly open: (userId: number, sealed: Sealed) => Promise<string>
  /**
   * Reads the text of a message from the vault. Returns an empty text if the text is no longer in
   * the vault.
   */
  readonly messageText: (messageId: number, textRef: string) => Promise<string>
}

/**
 * Converts one event to changes of rows. The same event must always result in the same changes, so
 * that a rebuild gives the same rows.
 */
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
   * The column with unix seconds by whose UTC month the table is partitioned. Partitions are
   * created when they are needed.
   */
  readonly monthColumn?: string
  /**
   * Set if events of several lanes (partitions of the streams) change the same rows. Each lane may
   * only add to cells, or set cells that no other lane sets. Shared rows are written last and in
   * the order of their keys, which prevents deadlocks and keeps lock waits short.
   */
  readonly isShared?: true
}

/**
 * A projection builds a read model from events. The keys of `handlers` are the event types that the
 * projection reads.
 */
export type Projection = {
  readonly name: ProjectionName
  /**
   * The version of the handlers. It must be increased whenever a change of the handlers produces
   * different rows. The read model is then rebuilt.
   */
  readonly version: number
  /**
   * The SQL statements that create the tables. Table names are unqualified, because the statements
   * run in the projection's schema.
   */
  readonly sql: string
  readonly tables: Readonly<Record<string, TableShape>>
  readonly handlers: ReadonlyMap<string, Handler<Fact>>
  /**
   * The newest version of each event type that the handlers support. The version is 1 for an event
   * type that is not listed.
   */
  readonly newest?: Readonly<Record<string, number>>
}

/**
 * Defines a projection of the events `E`. The types of the handlers are checked here. Later, the
 * runner finds a handler by the name of the event type, where TypeScript cannot check the types.
 */
export const projectionOf = <E extends Fact>(
  parts: Omit<Projection, 'handlers'> & { readonly handlers: Handlers<E> },
): Projection => ({
  ...parts,
  handlers: new Map(Object.entries(parts.handlers) as [string, Handler<Fact>][]),
})
