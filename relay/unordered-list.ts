/** The entry of one member in a list. It is needed to remove the member without a search. */
export type ListEntry<T> = { readonly member: T; index: number }

const REMOVED = -1

/**
 * An unordered collection for running calls. A call is added when it begins and removed when it
 * ends. A `Set` would keep removed members in memory until it rebuilds its table, so finished calls
 * would survive garbage collections.
 */
export class UnorderedList<T> {
  private readonly entries: ListEntry<T>[] = []

  get size(): number {
    return this.entries.length
  }

  add(member: T): ListEntry<T> {
    const entry = { member, index: this.entries.length }
    this.entries.push(entry)
    return entry
  }

  /** Removes a member. Removing a member twice has no effect. */
  remove(entry: ListEntry<T>): void {
    const { index } = entry
    if (index === REMOVED) return
    entry.index = REMOVED
    const last = this.entries.pop()
    if (last === undefined || last === entry) return
    last.index = index
    this.entries[index] = last
  }

  clear(): void {
    for (const entry of this.entries) entry.index = REMOVED
    this.entries.length = 0
  }

  /** Visits the entries of all members. Members may be added or removed during the iteration. */
  *[Symbol.iterator](): Generator<ListEntry<T>> {
    for (let index = this.entries.length - 1; index >= 0; index -= 1) {
      const entry = this.entries[index]
      if (entry !== undefined) yield entry
    }
  }
}
