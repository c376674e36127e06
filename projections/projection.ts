import type { Fact, Recorded, Sealed } from '#domain/shared/event.ts'
import type { ProjectionName } from './names.ts'
import type { RowChanges } from './runner/row-changes.ts'

/** What a handler may ask of the outside while it folds. */
export type FoldContext = {
  /** Empty once the user's data key has been destroyed. */
  readonly open: (userId: number, sealed: Sealed) => Promise<string>
  /** A text that the vault keeps for a message; empty once it was deleted there. */
  readonly messageText: (messageId: number, textRef: string) => Promise<string>
}

/** Turns one event into changes of rows; the same event always gives the same changes. */
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
  /** A column of unix seconds: the table is parted by its month (UTC), parts made on demand. */
  readonly monthColumn?: string
  /**
   * Streams of several lanes change the same rows, by adding or in cells of their own. They are
   * written last and in the order of their keys, so that lanes of several processes wait for each
   * other for the shortest time and never in a circle.
   */
  readonly isShared?: true
}

/** Facts → answers. The types of event it wants are the keys of its handlers. */
export type Projection = {
  readonly name: ProjectionName
  /** Counts up when handlers give other rows than before: the read model is then rebuilt. */
  readonly version: number
  /** DDL with unqualified names: it runs inside the projection's own schema. */
  readonly sql: string
  readonly tables: Readonly<Record<string, TableShape>>
  readonly handlers: ReadonlyMap<string, Handler<Fact>>
  /** The newest version of the event types that its handlers know; 1 for those left out. */
  readonly newest?: Readonly<Record<string, number>>
}

/** A projection of the events `E`, checked by type; its handlers are then found by name. */
export const projectionOf = <E extends Fact>(
  parts: Omit<Projection, 'handlers'> & { readonly handlers: Handlers<E> },
): Projection => ({
  ...parts,
  handlers: new Map(Object.entries(parts.handlers) as [string, Handler<Fact>][]),
})
