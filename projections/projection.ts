import type { Fact, Recorded, Sealed } from '#domain/shared/event.ts'
import type { ProjectionName } from './projection-names.ts'
import type { RowChanges } from './runner/row-changes.ts'

/** Functions with which event handlers read encrypted texts, and texts in the vault. */
export type FoldContext = {
  /** Decrypts a text with a user's data key. Returns an empty text if the key was destroyed. */
  readonly open: (userId: number, sealed: Sealed) => Promise<string>
  /**
   * Reads a message's text from the vault. Returns an empty text if the vault no longer contains
   * the message's text.
   */
  readonly messageText: (messageId: number, textRef: string) => Promise<string>
}

/**
 * Converts an event to row changes. The changes depend on the event only, so that a rebuild gives
 * the same rows.
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
   * The column (Unix seconds) by whose UTC month the table is partitioned. Partitions are created
   * when needed.
   */
  readonly monthColumn?: string
  /**
   * Set if several lanes (stream partitions) change the same rows. Each lane may only add to cells,
   * or set cells that no other lane sets. The rows of this table are written last and in key order.
   * The fixed order prevents deadlocks and keeps lock waits short.
   */
  readonly isShared?: true
  /**
   * Set if rows are only inserted and never changed. For such a table, a rebuild checks the primary
   * key only once, after all rows have been inserted.
   */
  readonly isAppendOnly?: true
}

/** Builds a read model from events. The keys of `handlers` are the event types. */
export type Projection = {
  readonly name: ProjectionName
  /**
   * Increase the version whenever handlers produce different rows. A read model whose version has
   * changed is rebuilt.
   */
  readonly version: number
  /** Creates the tables. Names are unqualified, because the SQL runs in the projection's schema. */
  readonly sql: string
  readonly tables: Readonly<Record<string, TableShape>>
  readonly handlers: ReadonlyMap<string, Handler<Fact>>
  /** The newest version of each event type that the handlers support. The default is 1. */
  readonly newest?: Readonly<Record<string, number>>
}

/**
 * Defines a projection and checks the types of its handlers. The runner cannot check them, because
 * the runner finds handlers by event name.
 */
export const projectionOf = <E extends Fact>(
  definition: Omit<Projection, 'handlers'> & { readonly handlers: Handlers<E> },
): Projection => ({
  ...definition,
  handlers: new Map(Object.entries(definition.handlers) as [string, Handler<Fact>][]),
})
