/**
 * The maximum number of inner boxes of a file that are read. A day of fragments has fewer. The
 * limit also bounds the time for which reading an index blocks the event loop.
 */
const INNER_BOXES_MAX = 300_000

/** Counts the inner boxes of a file that were read. */
export type BoxCount = { boxes: number }

/** Thrown if a file has more boxes than may be read. The duration of the file is then unknown. */
export class TooManyBoxesError extends Error {}

/**
 * Reads the header of the box at the offset `at`. Returns the type and length of the box, and
 * `start`, the length of the header. A length of 0 in the header means that the box has `rest`
 * bytes: it extends to the end of the file or of the box around it.
 */
export function boxAt(bytes: Buffer, at: number, rest: number) {
  if (at + 8 > bytes.length) return { type: '', length: 0, start: 8 }
  const type = bytes.toString('latin1', at + 4, at + 8)
  const length = bytes.readUInt32BE(at)
  if (length === 0) return { type, length: rest, start: 8 }
  if (length !== 1 || at + 16 > bytes.length) return { type, length, start: 8 }
  return { type, length: Number(bytes.readBigUInt64BE(at + 8)), start: 16 }
}

/** A box of an MP4 file (ISO/IEC 14496-12). */
export type Box = { readonly type: string; readonly content: Buffer }

/**
 * Counts a box. `steps` is the work for the box, as a multiple of the work for an empty box. Throws
 * `TooManyBoxesError` at the limit of boxes.
 */
export function countBox(count: BoxCount, steps = 1): void {
  count.boxes += steps
  if (count.boxes > INNER_BOXES_MAX) throw new TooManyBoxesError()
}

/**
 * Yields the boxes in the content of a box, starting at the offset `from`. Throws
 * `TooManyBoxesError` at the limit of boxes, because a caller could hide the index behind many
 * empty boxes if later boxes were ignored.
 */
export function* boxesIn(bytes: Buffer, count: BoxCount, from = 0): Generator<Box> {
  let at = from
  while (at + 8 <= bytes.length) {
    countBox(count)
    const { type, length, start } = boxAt(bytes, at, bytes.length - at)
    if (length < start || at + length > bytes.length) return
    yield { type, content: bytes.subarray(at + start, at + length) }
    at += length
  }
}
