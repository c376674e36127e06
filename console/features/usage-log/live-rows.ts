import type { LogEntry } from '#read-api/contract/logs.ts'

/**
 * The log rows that live events have delivered since the page was read from the server. `visible`
 * rows are shown. While `isHeld` is true, new rows wait in `pending`, so that the rows on screen do
 * not move while the user reads them.
 */
export type LiveRows = {
  readonly visible: readonly LogEntry[]
  readonly pending: readonly LogEntry[]
  readonly isHeld: boolean
  /**
   * True if `pending` is incomplete, because too many rows were waiting or the connection was
   * interrupted. The list must then be read from the server again.
   */
  readonly isIncomplete: boolean
  /**
   * The number of rows that were dropped because too many were waiting. The number does not include
   * rows that were missed while the connection was interrupted.
   */
  readonly dropped: number
  /**
   * Rows with ids above this id were made visible by the last update. These rows are highlighted
   * for a moment.
   */
  readonly highlightAboveId: number
}

export const NO_LIVE_ROWS: LiveRows = {
  visible: [],
  pending: [],
  isHeld: false,
  isIncomplete: false,
  dropped: 0,
  highlightAboveId: Number.MAX_SAFE_INTEGER,
}

/** The maximum length of `visible`, and also of `pending`. */
export const LIVE_ROWS_MAX = 5_000

/**
 * The page of rows that was read from the server. The live rows are shown above this page.
 * `isComplete` is true if the page contains all rows that match the filters.
 */
export type PageBelow = { readonly rows: readonly LogEntry[]; readonly isComplete: boolean }

/**
 * Returns the live rows together with the `rows` of new live events, which are in the order of
 * their arrival. A row may arrive after a row with a higher id, because several workers of the
 * server write rows in parallel.
 */
export function receiveRows(live: LiveRows, rows: readonly LogEntry[], page: PageBelow): LiveRows {
  const newest = Math.max(page.rows[0]?.id ?? 0, live.pending[0]?.id ?? 0, live.visible[0]?.id ?? 0)
  const isListed = ({ id }: LogEntry): boolean =>
    [page.rows, live.visible, live.pending].some((listed) => listed.some((row) => row.id === id))
  const lowest = lowestOf(page)
  const fresh = rows
    .filter((row) => row.id > newest || (row.id > lowest && !isListed(row)))
    .reverse()
  if (fresh.length === 0) return live
  if (!live.isHeld) {
    return {
      ...live,
      visible: inOrder(fresh, live.visible).slice(0, LIVE_ROWS_MAX),
      highlightAboveId: newest,
    }
  }
  const pending = inOrder(fresh, live.pending)
  if (pending.length <= LIVE_ROWS_MAX) return { ...live, pending }
  const dropped = live.dropped + pending.length - LIVE_ROWS_MAX
  return { ...live, pending: pending.slice(0, LIVE_ROWS_MAX), isIncomplete: true, dropped }
}

export function setHeld(live: LiveRows, isHeld: boolean): LiveRows {
  if (isHeld === live.isHeld) return live
  return isHeld ? { ...live, isHeld } : { ...releaseRows(live), isHeld: false }
}

export function releaseRows(live: LiveRows): LiveRows {
  if (live.pending.length === 0) return live
  const visible = inOrder(live.pending, live.visible).slice(0, LIVE_ROWS_MAX)
  const highlightAboveId = (live.pending.at(-1)?.id ?? 0) - 1
  return { ...live, visible, pending: [], isIncomplete: false, dropped: 0, highlightAboveId }
}

export function withPage(live: LiveRows, page: PageBelow): readonly LogEntry[] {
  if (live.visible.length === 0) return page.rows
  const pageIds = new Set(page.rows.map(({ id }) => id))
  const lowest = lowestOf(page)
  const added = live.visible.filter(({ id }) => id > lowest && !pageIds.has(id))
  return inOrder(added, page.rows)
}

const lowestOf = ({ rows, isComplete }: PageBelow): number =>
  isComplete ? 0 : (rows.at(-1)?.id ?? 0)

/**
 * Returns the rows of two lists as one list, newest first. Sorting is usually not needed, because
 * the rows in `above` are usually newer than those in `below`.
 */
function inOrder(above: readonly LogEntry[], below: readonly LogEntry[]): readonly LogEntry[] {
  const all = [...above, ...below]
  const isSorted = (above.at(-1)?.id ?? 0) > (below[0]?.id ?? 0)
  const areSorted = above.every((row, index) => index === 0 || row.id < (above[index - 1]?.id ?? 0))
  return isSorted && areSorted ? all : all.sort((left, right) => right.id - left.id)
}
