/**
 * The functions of this file work on hash tables with open addressing in plain arrays. An entry
 * consists of `columns` numbers. The first two of these numbers are a 64-bit fingerprint. Two zeros
 * mark a free entry, because no fingerprint consists of two zeros.
 */

/**
 * Returns the index of the entry with a fingerprint. If there is no such entry, returns the index
 * of the free entry into which the fingerprint can be inserted.
 */
export function findSlot(slots: Uint32Array, columns: number, high: number, low: number): number {
  const mask = slots.length / columns - 1
  for (let slot = low & mask; ; slot = (slot + 1) & mask) {
    const at = columns * slot
    if ((slots[at] === high && slots[at + 1] === low) || isFree(slots, at)) return at
  }
}

export const isFree = (slots: Uint32Array, at: number): boolean =>
  slots[at] === 0 && slots[at + 1] === 0

/** A table as plain data, so that it can be stored with the state of an audit. */
export type FingerprintTable = { slots: Uint32Array; size: number }

type Layout = {
  /** The number of numbers in an entry. */
  readonly columns: number
  /** The table is doubled as soon as this fraction of its entries is in use. */
  readonly fullAt: number
}

/**
 * Adds the fingerprint of a text. Returns the index of the new entry, or null if the table contains
 * the text already.
 */
export function insertText(
  table: FingerprintTable,
  { columns, fullAt }: Layout,
  text: string,
): number | null {
  if (table.size * columns >= table.slots.length * fullAt) {
    table.slots = doubledTable(table.slots, columns)
  }
  const { slots } = table
  const [high, low] = fingerprintOf(text)
  const at = findSlot(slots, columns, high, low)
  if (!isFree(slots, at)) return null
  slots[at] = high
  slots[at + 1] = low
  table.size += 1
  return at
}

/** Returns a table of twice the size with the same entries. */
function doubledTable(slots: Uint32Array, columns: number): Uint32Array {
  const larger = new Uint32Array(slots.length * 2)
  for (let at = 0; at < slots.length; at += columns) {
    if (isFree(slots, at)) continue
    const to = findSlot(larger, columns, slots[at] ?? 0, slots[at + 1] ?? 0)
    for (let column = 0; column < columns; column += 1)
      larger[to + column] = slots[at + column] ?? 0
  }
  return larger
}

/**
 * Returns the 64-bit fingerprint of a text as two independent 32-bit hashes: FNV-1a, and a
 * multiplicative hash with the constants of MurmurHash 3. The result is never two zeros, which mark
 * a free entry.
 */
export function fingerprintOf(text: string): readonly [high: number, low: number] {
  let first = 0x811c9dc5
  let second = 0x9747b28c
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    first = Math.imul(first ^ code, 0x01000193)
    second = Math.imul(((second << 13) | (second >>> 19)) ^ Math.imul(code, 0xcc9e2d51), 0x1b873593)
  }
  second ^= second >>> 16
  second = Math.imul(second, 0x85ebca6b)
  second ^= second >>> 13
  return [first >>> 0, second >>> 0 || 1]
}

/**
 * A compact set of texts, which takes 8 to 24 bytes per text. It is a hash table with open
 * addressing that contains 64-bit fingerprints of the texts. A million ids fit in 24 MB. Two of a
 * million different texts have the same fingerprint with a probability of about 3 in 100 million.
 * The set is plain data, so that it can be stored with the state of an audit.
 */
export type IdSet = FingerprintTable

const SLOTS_MIN = 1_024
const LAYOUT = { columns: 2, fullAt: 2 / 3 }

export const noIds = (): IdSet => ({ slots: new Uint32Array(LAYOUT.columns * SLOTS_MIN), size: 0 })

/** Adds a text. Returns false if the set contains it already. */
export const addId = (set: IdSet, text: string): boolean => insertText(set, LAYOUT, text) !== null
