/**
 * A set of texts in 8 to 24 bytes each: an open hash table of 64-bit fingerprints. A million ids
 * fit in 24 MB. Two of a million different texts have the same fingerprint with a probability of
 * about 3 in 100 million. It is plain data, so that it can be stored with the state of an audit.
 */
export type IdSet = { slots: Uint32Array; size: number }

const SLOTS_MIN = 1_024

export const noIds = (): IdSet => ({ slots: new Uint32Array(2 * SLOTS_MIN), size: 0 })

/** Adds a text. Returns false if the set contains it already. */
export function addId(set: IdSet, text: string): boolean {
  if (set.size * 3 >= set.slots.length) grow(set)
  const [high, low] = fingerprintOf(text)
  if (!place(set.slots, high, low)) return false
  set.size += 1
  return true
}

export function hasId({ slots }: IdSet, text: string): boolean {
  const [high, low] = fingerprintOf(text)
  const mask = slots.length / 2 - 1
  for (let slot = low & mask; ; slot = (slot + 1) & mask) {
    const at = 2 * slot
    if (slots[at] === high && slots[at + 1] === low) return true
    if (slots[at] === 0 && slots[at + 1] === 0) return false
  }
}

function grow(set: IdSet): void {
  const { slots } = set
  const larger = new Uint32Array(slots.length * 2)
  for (let at = 0; at < slots.length; at += 2) {
    const [high = 0, low = 0] = [slots[at], slots[at + 1]]
    if (high !== 0 || low !== 0) place(larger, high, low)
  }
  set.slots = larger
}

function place(slots: Uint32Array, high: number, low: number): boolean {
  const mask = slots.length / 2 - 1
  for (let slot = low & mask; ; slot = (slot + 1) & mask) {
    const at = 2 * slot
    if (slots[at] === high && slots[at + 1] === low) return false
    if (slots[at] === 0 && slots[at + 1] === 0) {
      slots[at] = high
      slots[at + 1] = low
      return true
    }
  }
}

/**
 * Two independent 32-bit hashes: FNV-1a, and a multiplicative hash with the constants of MurmurHash
 * 3. The result is never two zeros, which mark a free slot.
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
