import type { LogEntry } from '#read-api/contract/log.ts'

/**
 * The rows that came since the page was read, newest first. While `isHeld`, new ones wait in
 * `pending`, so that nothing moves under the reader.
 */
export type LiveTail = {
  readonly shown: readonly LogEntry[]
  readonly pending: readonly LogEntry[]
  readonly isHeld: boolean
  /** More waited than are kept here: showing them means reading the list again. */
  readonly isOverfull: boolean
  /** How many waited and were not kept; rows that never came are not among them. */
  readonly dropped: number
  /** Rows with a greater id came with the last change, and are marked as new for a moment. */
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

/** How many rows a tail keeps in memory, shown or waiting. */
export const TAIL_MAX = 5_000

/** `rows` as they came, oldest first; those at or before `after` were in the page already. */
export function receive(tail: LiveTail, rows: readonly LogEntry[], after: number): LiveTail {
  const newest = Math.max(after, tail.pending[0]?.id ?? 0, tail.shown[0]?.id ?? 0)
  const fresh = rows.filter((row) => row.id > newest).reverse()
  if (fresh.length === 0) return tail
  if (!tail.isHeld) {
    return { ...tail, shown: [...fresh, ...tail.shown].slice(0, TAIL_MAX), freshAbove: newest }
  }
  const pending = [...fresh, ...tail.pending]
  if (pending.length <= TAIL_MAX) return { ...tail, pending }
  const dropped = tail.dropped + pending.length - TAIL_MAX
  return { ...tail, pending: pending.slice(0, TAIL_MAX), isOverfull: true, dropped }
}

/** Holding keeps the place; letting go shows what waited. */
export function hold(tail: LiveTail, isHeld: boolean): LiveTail {
  if (isHeld === tail.isHeld) return tail
  return isHeld ? { ...tail, isHeld } : { ...release(tail), isHeld: false }
}

/** Shows what waits, held or not. */
export function release(tail: LiveTail): LiveTail {
  if (tail.pending.length === 0) return tail
  const shown = [...tail.pending, ...tail.shown].slice(0, TAIL_MAX)
  const freshAbove = (tail.pending.at(-1)?.id ?? 0) - 1
  return { ...tail, shown, pending: [], isOverfull: false, dropped: 0, freshAbove }
}

/** The live rows, then the page's, each once. */
export function withPage(tail: LiveTail, page: readonly LogEntry[]): readonly LogEntry[] {
  if (tail.shown.length === 0) return page
  const newest = page[0]?.id ?? 0
  return [...tail.shown.filter((row) => row.id > newest), ...page]
}
