import { assert } from '#domain/shared/assert.ts'

export type Cell = string | number | bigint | boolean | null | object
export type Cells = Readonly<Record<string, Cell>>
export type Increments = Readonly<Record<string, bigint>>

/**
 * An `insert` requires that the row is missing. A `patch` or `remove` requires that the row exists.
 * An `upsert` accepts both.
 */
export type ChangeKind = 'insert' | 'upsert' | 'patch' | 'remove'

export type RowChange = {
  kind: ChangeKind
  readonly key: Cells
  readonly set: Record<string, Cell>
  readonly add: Record<string, bigint>
}

/**
 * The row changes of a batch in one read model, merged to one change per row. A change only sets
 * cells or adds to cells, so that no rows have to be read.
 */
export class RowChanges {
  readonly #tables = new Map<string, Map<string, RowChange>>()
  readonly #wide: [table: string, change: RowChange][] = []
  /** The tables with at least one row whose first change is not an upsert. */
  readonly #unmergeable = new Set<string>()

  insert(table: string, key: Cells, set: Cells): void {
    this.#merge(table, 'insert', key, set, {})
  }

  /** Sets cells of a row. A missing row is created. */
  put(table: string, key: Cells, set: Cells): void {
    this.#merge(table, 'upsert', key, set, {})
  }

  /**
   * Adds to cells and sets other cells. A missing row is created, and its added cells start at 0.
   */
  add(table: string, key: Cells, add: Increments, set: Cells = {}): void {
    this.#merge(table, 'upsert', key, set, add)
  }

  patch(table: string, key: Cells, set: Cells, add: Increments = {}): void {
    this.#merge(table, 'patch', key, set, add)
  }

  /**
   * Sets cells of all rows that match `where`. These changes are written after all other changes of
   * the batch. Later events of the batch must not set the same cells, because their values would be
   * overwritten.
   */
  patchWhere(table: string, where: Cells, set: Cells): void {
    this.#wide.push([table, { kind: 'patch', key: where, set: withoutHoles(table, set), add: {} }])
  }

  /**
   * Removes all rows that match `where`. These rows are removed after all other changes of the
   * batch. Later events of the batch must not create rows that match.
   */
  removeWhere(table: string, where: Cells): void {
    this.#wide.push([table, { kind: 'remove', key: where, set: {}, add: {} }])
  }

  remove(table: string, key: Cells): void {
    this.#merge(table, 'remove', key, {}, {})
  }

  tables(): Iterable<[string, Iterable<RowChange>]> {
    return [...this.#tables].map(([name, rows]) => [name, rows.values()])
  }

  /** The changes of `patchWhere` and `removeWhere`, in the order of the calls. */
  get wide(): readonly (readonly [table: string, change: RowChange])[] {
    return this.#wide
  }

  get isEmpty(): boolean {
    if (this.#wide.length > 0) return false
    for (const rows of this.#tables.values()) if (rows.size > 0) return false
    return true
  }

  /** The number of changed rows. */
  get size(): number {
    let size = 0
    for (const rows of this.#tables.values()) size += rows.size
    return size
  }

  /**
   * Removes changes from this object and returns them. If `isAll` is true, removes all changes. If
   * `isAll` is false, leaves the changes of tables whose row changes were made only with `put` and
   * `add`. Later `put` and `add` calls can be merged into these changes, because `put` and `add`
   * accept both existing and missing rows.
   */
  take(isAll: boolean): RowChanges {
    const removed = new RowChanges()
    for (const table of isAll ? [...this.#tables.keys()] : this.#unmergeable) {
      removed.#tables.set(table, this.#rowsOf(table))
      this.#tables.delete(table)
    }
    removed.#wide.push(...this.#wide.splice(0))
    this.#unmergeable.clear()
    return removed
  }

  #merge(table: string, kind: ChangeKind, key: Cells, set: Cells, add: Increments): void {
    const rows = this.#rowsOf(table)
    const id = idOf(table, key)
    const earlier = rows.get(id)
    if (earlier === undefined) {
      if (kind !== 'upsert') this.#unmergeable.add(table)
      rows.set(id, { kind, key, set: withoutHoles(table, set), add: { ...add } })
      return
    }
    if (kind === 'insert' || earlier.kind === 'remove')
      assert(false, `${table}: row ${id} made twice`)
    if (kind === 'remove') {
      // A row created and removed in the same batch is not written.
      if (earlier.kind === 'insert') rows.delete(id)
      else rows.set(id, { kind, key, set: {}, add: {} })
      return
    }
    addChange(table, earlier, set, add)
  }

  #rowsOf(table: string): Map<string, RowChange> {
    const existing = this.#tables.get(table)
    if (existing !== undefined) return existing
    const rows = new Map<string, RowChange>()
    this.#tables.set(table, rows)
    return rows
  }
}

// NOTE: the checks below are made for each cell of each event. A check builds its message only when
// the check fails. It does not use a function for this, because the function would be allocated at
// each check.

function idOf(table: string, key: Cells): string {
  let id = ''
  for (const column in key) {
    const cell = key[column]
    if (cell === undefined) assert(false, `${table}: key is missing`)
    id += `${cell}\u0001`
  }
  return id
}

function addChange(table: string, change: RowChange, set: Cells, add: Increments): void {
  for (const column in set) {
    const cell = set[column]
    if (cell === undefined) assert(false, `${table}.${column} is missing in the event`)
    change.set[column] = cell
    if (column in change.add) delete change.add[column]
  }
  for (const column in add) {
    const increment = add[column] ?? 0n
    const sum = change.add[column]
    if (sum !== undefined) {
      // Most events add 0 to most cells.
      if (increment !== 0n) change.add[column] = sum + increment
      continue
    }
    const before = change.set[column]
    if (before !== undefined) change.set[column] = BigInt(before as number) + increment
    else change.add[column] = increment
  }
}

/**
 * Returns a copy of the cells. Throws if a cell is undefined, because the event then has an
 * unexpected shape.
 */
function withoutHoles(table: string, set: Cells): Record<string, Cell> {
  for (const column in set) {
    if (set[column] === undefined) assert(false, `${table}.${column} is missing in the event`)
  }
  return { ...set }
}
