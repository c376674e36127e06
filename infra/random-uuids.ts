import { randomFillSync } from 'node:crypto'

const BYTES = 16
const HEX_DIGITS = Buffer.from('0123456789abcdef')
/**
 * For each of the 16 bytes of a UUID, the index in the text at which the byte's two digits begin.
 */
export const UUID_PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34] as const

const random = Buffer.alloc(256 * BYTES)
let usedBytes = random.length
const text = Buffer.alloc(36, '-')

/** Returns a UUID v4 (RFC 9562). */
export function randomUuid(): string {
  const at = takeRandomBytes()
  return textOf(at, 0x40)
}

/**
 * Returns a UUID v7 (RFC 9562). UUIDs of this version sort by time. `now` is in Unix milliseconds.
 */
export function timedUuid(now: number): string {
  const at = takeRandomBytes()
  random.writeUIntBE(now, at, 6)
  return textOf(at, 0x70)
}

/**
 * Takes the random bytes of one UUID. Random bytes are generated in blocks, because a system call
 * for each UUID would be slow.
 */
function takeRandomBytes(): number {
  if (usedBytes === random.length) {
    randomFillSync(random)
    usedBytes = 0
  }
  const at = usedBytes
  usedBytes += BYTES
  return at
}

/**
 * Returns the text of the UUID in `random` at the index `at`, with the bits of its version and its
 * variant. The text is written into one buffer, because joining several strings takes longer, and
 * the joined string takes ten times as much memory.
 */
function textOf(at: number, version: number): string {
  random[at + 6] = ((random[at + 6] ?? 0) & 0x0f) | version
  random[at + 8] = ((random[at + 8] ?? 0) & 0x3f) | 0x80
  for (let index = 0; index < BYTES; index += 1) {
    const byte = random[at + index] ?? 0
    const place = UUID_PLACES[index] ?? 0
    text[place] = HEX_DIGITS[byte >> 4] ?? 0
    text[place + 1] = HEX_DIGITS[byte & 15] ?? 0
  }
  return text.toString('latin1')
}
