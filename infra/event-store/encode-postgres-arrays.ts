import { UUID_PLACES } from '../random-uuids.ts'
/**
 * Encodes Postgres arrays in the binary format of `array_recv`, which needs no escaping. Each
 * method builds one array: `read` returns the element for an item. All arrays of one transaction
 * share one buffer. Call `reset` after the driver has copied the buffer.
 */
export type ArrayWriter = {
  readonly reset: () => void
  readonly texts: <T>(items: readonly T[], read: (item: T) => string | null) => Buffer
  readonly uuids: <T>(items: readonly T[], read: (item: T) => string) => Buffer
  readonly int8s: <T>(items: readonly T[], read: (item: T) => number) => Buffer
  readonly int2s: <T>(items: readonly T[], read: (item: T) => number) => Buffer
}

const TEXT = 25
const INT8 = 20
const INT2 = 21
const UUID = 2950
const HEAD_BYTES = 20

export function createArrayWriter(): ArrayWriter {
  let scratch = Buffer.allocUnsafe(65_536)
  let end = 0

  const start = (elementType: number, count: number, bytes: number): number => {
    if (end + HEAD_BYTES + bytes > scratch.length) {
      scratch = Buffer.allocUnsafe(Math.max(scratch.length * 2, HEAD_BYTES + bytes))
      end = 0
    }
    const begin = end
    for (const word of [1, 1, elementType, count, 1]) end = scratch.writeInt32BE(word, end)
    return begin
  }
  const text = (value: string): void => {
    const length = scratch.write(value, end + 4)
    scratch.writeInt32BE(length, end)
    end += 4 + length
  }
  return {
    reset: () => {
      end = 0
    },
    texts: (items, read) => {
      const begin = start(TEXT, items.length, bytesMaxOf(items, read))
      for (const item of items) {
        const value = read(item)
        if (value === null) end = scratch.writeInt32BE(-1, end)
        else text(value)
      }
      return scratch.subarray(begin, end)
    },
    uuids: (items, read) => {
      const begin = start(UUID, items.length, items.length * 20)
      for (const item of items) {
        end = scratch.writeInt32BE(16, end)
        end = writeUuid(scratch, read(item), end)
      }
      return scratch.subarray(begin, end)
    },
    int8s: (items, read) => {
      const begin = start(INT8, items.length, items.length * 12)
      for (const item of items) {
        end = scratch.writeInt32BE(8, end)
        end = writeInt8(scratch, read(item), end)
      }
      return scratch.subarray(begin, end)
    },
    int2s: (items, read) => {
      const begin = start(INT2, items.length, items.length * 6)
      for (const item of items) {
        end = scratch.writeInt32BE(2, end)
        end = scratch.writeInt16BE(read(item), end)
      }
      return scratch.subarray(begin, end)
    },
  }
}

/**
 * Returns an upper bound for the bytes of the encoded texts. A UTF-16 code unit takes at most three
 * bytes in UTF-8, and each length takes four bytes.
 */
function bytesMaxOf<T>(items: readonly T[], read: (item: T) => string | null): number {
  let bytes = 0
  for (const item of items) bytes += 4 + (read(item)?.length ?? 0) * 3
  return bytes
}

/** Writes the 16 bytes of a UUID, whose text must be in lower case. Returns the next index. */
function writeUuid(buffer: Buffer, text: string, at: number): number {
  let end = at
  for (const place of UUID_PLACES) {
    buffer[end] = (digitAt(text, place) << 4) | digitAt(text, place + 1)
    end += 1
  }
  return end
}

function digitAt(text: string, index: number): number {
  const code = text.charCodeAt(index)
  return code < 97 ? code - 48 : code - 87
}

function writeInt8(buffer: Buffer, value: number, at: number): number {
  const high = Math.floor(value / 2 ** 32)
  buffer.writeInt32BE(high, at)
  return buffer.writeUInt32BE(value - high * 2 ** 32, at + 4)
}
