/** The position of a member in a list. It is needed to remove the member without a search. */
export type Place<T> = { readonly member: T; index: number }

const REMOVED = -1

/**
 * An unordered collection whose members are added and removed with every call. A `Set` would keep
 * removed members in memory until it rebuilds its table, so finished calls would survive garbage
 * collections.
 */
export class UnorderedList<T> {
  private readonly places: Place<T>[] = []

  get size(): number {
    return this.places.length
  }

  add(member: T): Place<T> {
    const place = { member, index: this.places.length }
    this.places.push(place)
    return place
  }

  /** Removes a member. Removing a member twice has no effect. */
  remove(place: Place<T>): void {
    const { index } = place
    if (index === REMOVED) return
    place.index = REMOVED
    const last = this.places.pop()
    if (last === undefined || last === place) return
    last.index = index
    this.places[index] = last
  }

  clear(): void {
    for (const place of this.places) place.index = REMOVED
    this.places.length = 0
  }

  /** Visits the positions of all members. Members may be added or removed during the iteration. */
  *[Symbol.iterator](): Generator<Place<T>> {
    for (let index = this.places.length - 1; index >= 0; index -= 1) {
      const place = this.places[index]
      if (place !== undefined) yield place
    }
  }
}
