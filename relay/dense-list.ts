/** A member's place in a list, by which the list finds the member when it is removed. */
export type Place<T> = { readonly member: T; index: number }

const REMOVED = -1

/**
 * A collection without order for members that are added and removed with every call. A `Set` keeps
 * removed members in memory until it rebuilds its table, so that finished calls would survive
 * garbage collections.
 */
export class DenseList<T> {
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

  /** Visits the places of all members. The list may change during the iteration. */
  *[Symbol.iterator](): Generator<Place<T>> {
    for (let index = this.places.length - 1; index >= 0; index -= 1) {
      const place = this.places[index]
      if (place !== undefined) yield place
    }
  }
}
