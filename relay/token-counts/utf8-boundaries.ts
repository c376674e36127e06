/** A byte that separates two texts. UTF-8 never contains this byte. */
export const TEXT_SEPARATOR = 0xff

/** Reports whether the byte is a space, a line feed or the separator of two texts. */
export const isSpace = (byte: number | undefined): boolean =>
  byte === 32 || byte === 10 || byte === TEXT_SEPARATOR

/** Reports whether the byte is a continuation byte of a UTF-8 character. */
export const isContinuation = (byte: number | undefined): boolean =>
  byte !== undefined && (byte & 0xc0) === 0x80

/**
 * Returns the largest offset up to `end` that does not split a UTF-8 character. The result is at
 * least `start`.
 */
export function completeEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = end - 1
  while (at > start && isContinuation(bytes[at])) at -= 1
  return at >= start && at + lengthOf(bytes[at] ?? 0) > end ? at : end
}

/** Returns the length in bytes of the UTF-8 character with this first byte. */
function lengthOf(byte: number): number {
  if (byte < 0xc0) return 1
  if (byte < 0xe0) return 2
  return byte < 0xf0 ? 3 : 4
}
