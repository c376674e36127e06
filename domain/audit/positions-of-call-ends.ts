import { doubledTable, findSlot, fingerprintOf, isFree } from './fingerprint-table.ts'

/**
 * A compact table of the admitted calls, with the log position of the event that ended each call.
 * It takes 21 to 43 bytes per call. It is a hash table with open addressing and four columns: two
 * hold a 64-bit fingerprint of the call's id, and two hold the position. It is plain data, so that
 * it can be stored with the state of an audit.
 */
export type CallPositions = { slots: Uint32Array; size: number }

const SLOTS_MIN = 1_024
const COLUMNS = 4
const FULL = 3 / 4
const WORD = 2 ** 32

export const noCallPositions = (): CallPositions => ({
  slots: new Uint32Array(COLUMNS * SLOTS_MIN),
  size: 0,
})

/** Adds a call. Returns false if the table already contains the call. */
export function addCall(calls: CallPositions, id: string): boolean {
  if (calls.size * COLUMNS >= calls.slots.length * FULL) {
    calls.slots = doubledTable(calls.slots, COLUMNS)
  }
  const { slots } = calls
  const [high, low] = fingerprintOf(id)
  const at = findSlot(slots, COLUMNS, high, low)
  if (!isFree(slots, at)) return false
  slots[at] = high
  slots[at + 1] = low
  calls.size += 1
  return true
}

/**
 * Records the log position of the event that ended a call. If the call already has a position, this
 * position is kept.
 */
export function recordEnd(calls: CallPositions, id: string, position: number): void {
  addCall(calls, id)
  const at = findSlot(calls.slots, COLUMNS, ...fingerprintOf(id))
  if (positionAt(calls.slots, at) !== 0) return
  calls.slots[at + 2] = Math.floor(position / WORD)
  calls.slots[at + 3] = position % WORD
}

/** Returns the position at which a call ended, or null if it is unknown or has not ended. */
export function endOf({ slots }: CallPositions, id: string): number | null {
  const position = positionAt(slots, findSlot(slots, COLUMNS, ...fingerprintOf(id)))
  return position === 0 ? null : position
}

const positionAt = (slots: Uint32Array, at: number): number =>
  (slots[at + 2] ?? 0) * WORD + (slots[at + 3] ?? 0)
