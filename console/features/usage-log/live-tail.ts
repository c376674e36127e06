import type { LogEntry } from '#read-api/contract/logs.ts'

/** While `isHeld` is true, new rows wait in `pending`, so that visible rows do not move. */
export type LiveTail = {
  readonly shown: readonly LogEntry[]
  readonly pending: readonly LogEntry[]
  readonly isHeld: boolean
  /** True if pending rows were dropped, so that the list must be reloaded. */
  readonly isOverfull: boolean
  /** The number of dropped rows, without missed live events. */
  readonly dropped: number
  /** Rows with a higher id are highlighted for a moment. */
  readonly freshAbove: number
}

export const EMPTY_TAIL: LiveTail = {
  shown: [],
  pending: [],
  isHeld: false,
  isOverfull: false,
  dropped: 0,
  freshAbove: Number.MAX_SAFE_INTEGER,
}

/** The maximum length of `shown` and of `pending`. */
export const TAIL_MAX = 5_000

/** `isWhole` is true for the last page. */
export type PageBelow = { readonly rows: readonly LogEntry[]; readonly isWhole: boolean }

/** Expects the oldest row first. Ids may be unordered, because projections write in parallel. */
export function receive(tail: LiveTail, rows: readonly LogEntry[], page: PageBelow): LiveTail {
  const newest = Math.max(page.rows[0]?.id ?? 0, tail.pending[0]?.id ?? 0, tail.shown[0]?.id ?? 0)
  const isListed = ({ id }: LogEntry): boolean =>
    [page.rows, tail.shown, tail.pending].some((known) => known.some((row) => row.id === id))
  const lowest = lowestOf(page)
  const fresh = rows
    .filter((row) => row.id > newest || (row.id > lowest && !isListed(row)))
    .reverse()
  if (fresh.length === 0) return tail
  if (!tail.isHeld) {
    return { ...tail, shown: inOrder(fresh, tail.shown).slice(0, TAIL_MAX), freshAbove: newest }
  }
  const pending = inOrder(fresh, tail.pending)
  if (pending.length <= TAIL_MAX) return { ...tail, pending }
  const dropped = tail.dropped + pending.length - TAIL_MAX
  return { ...tail, pending: pending.slice(0, TAIL_MAX), isOverfull: true, dropped }
}

export function hold(tail: LiveTail, isHeld: boolean): LiveTail {
  if (isHeld === tail.isHeld) return tail
  return isHeld ? { ...tail, isHeld } : { ...release(tail), isHeld: false }
}

export function release(tail: LiveTail): LiveTail {
  if (tail.pending.length === 0) return tail
  const shown = inOrder(tail.pending, tail.shown).slice(0, TAIL_MAX)
  const freshAbove = (tail.pending.at(-1)?.id ?? 0) - 1
  return { ...tail, shown, pending: [], isOverfull: false, dropped: 0, freshAbove }
}

export function withPage(tail: LiveTail, page: PageBelow): readonly LogEntry[] {
  if (tail.shown.length === 0) return page.rows
  const known = new Set(page.rows.map(({ id }) => id))
  const lowest = lowestOf(page)
  const live = tail.shown.filter(({ id }) => id > lowest && !known.has(id))
  return inOrder(live, page.rows)
}

const lowestOf = ({ rows, isWhole }: PageBelow): number => (isWhole ? 0 : (rows.at(-1)?.id ?? 0))

/** Usually, all rows of `above` are newer than the rows of `below`. */
function inOrder(above: readonly LogEntry[], below: readonly LogEntry[]): readonly LogEntry[] {
  const all = [...above, ...below]
  const isSorted = (above.at(-1)?.id ?? 0) > (below[0]?.id ?? 0)
  const areSorted = above.every((row, index) => index === 0 || row.id < (above[index - 1]?.id ?? 0))
  return isSorted && areSorted ? all : all.sort((left, right) => right.id - left.id)
}
