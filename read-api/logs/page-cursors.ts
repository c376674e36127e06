const LISTS_MAX = 2_000
const PAGES_MAX = 5_000

/**
 * Where each page of a list starts, as learnt from the page before: so that `p` reads on behind
 * the last row shown (new rows shift nothing) and costs the same however deep it is.
 *
 * Bounded: the list used longest ago is forgotten, and its pages are then found by counting.
 */
export class PageCursors {
  /** By list: page → the id that its rows lie below. */
  readonly #lists = new Map<string, Map<number, number>>()

  /** The nearest known start at or before the page, and how many rows to skip from there. */
  start(list: string, page: number, pageSize: number): { before?: number; offset: number } {
    const pages = this.#lists.get(list)
    if (page === 0 || pages === undefined) return { offset: page * pageSize }
    this.#lists.delete(list)
    this.#lists.set(list, pages)
    let nearest = 0
    if (pages.has(page)) nearest = page
    else for (const known of pages.keys()) if (known <= page && known > nearest) nearest = known
    const before = pages.get(nearest)
    const offset = (page - nearest) * pageSize
    return before === undefined ? { offset } : { before, offset }
  }

  /** The page was shown down to `lastId`: the next one lies below it. */
  learn(list: string, page: number, lastId: number): void {
    if (page === 0) this.#lists.delete(list)
    const pages = this.#lists.get(list) ?? new Map<number, number>()
    if (pages.size < PAGES_MAX || pages.has(page + 1)) pages.set(page + 1, lastId)
    this.#lists.set(list, pages)
    const [oldest] = this.#lists.keys()
    if (this.#lists.size > LISTS_MAX && oldest !== undefined) this.#lists.delete(oldest)
  }
}
