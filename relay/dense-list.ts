/** A member's place in a list, by which the list finds the member when it is removed. */
export type Place<T> = { readonly member: T; index: number }

const REMOVED = -1

/**
 * A collection without order whose members are added and removed at the rate of calls. A `Set` of
 * this kind re-creates its table again and again and keeps removed members until then, so that
 * finished calls survive garbage collections.
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

  /** Removing a member twice has no effect. */
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

  /** Visits the places of all members. The list may change meanwhile. */
  *[Symbol.iterator](): Generator<Place<T>> {
    for (let index = this.places.length - 1; index >= 0; index -= 1) {
      const place = this.places[index]
      if (place !== undefined) yield place
    }
  }
}
