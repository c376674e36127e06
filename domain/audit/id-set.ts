import { doubledTable, findSlot, fingerprintOf, isFree } from './fingerprint-table.ts'

/**
 * A compact set of texts, which takes 8 to 24 bytes per text. It is a hash table with open
 * addressing that contains 64-bit fingerprints of the texts. A million ids fit in 24 MB. Two of a
 * million different texts have the same fingerprint with a probability of about 3 in 100 million.
 * The set is plain data, so that it can be stored with the state of an audit.
 */
export type IdSet = { slots: Uint32Array; size: number }

const SLOTS_MIN = 1_024
const COLUMNS = 2

export const noIds = (): IdSet => ({ slots: new Uint32Array(COLUMNS * SLOTS_MIN), size: 0 })

/** Adds a text. Returns false if the set contains it already. */
export function addId(set: IdSet, text: string): boolean {
  if (set.size * 3 >= set.slots.length) set.slots = doubledTable(set.slots, COLUMNS)
  const { slots } = set
  const [high, low] = fingerprintOf(text)
  const at = findSlot(slots, COLUMNS, high, low)
  if (!isFree(slots, at)) return false
  slots[at] = high
  slots[at + 1] = low
  set.size += 1
  return true
}
