/**
 * Encodes Postgres arrays in the binary format of `array_recv`, which needs no escaping. All arrays
 * of one transaction share one buffer. Call `reset` after the driver has copied the buffer.
 */
export type ArrayWriter = {
  readonly reset: () => void
  readonly texts: (values: readonly (string | null)[]) => Buffer
  readonly uuids: (values: readonly string[]) => Buffer
  readonly int8s: (values: readonly number[]) => Buffer
  readonly int2s: (values: readonly number[]) => Buffer
}

const TEXT = 25
const INT8 = 20
const INT2 = 21
const UUID = 2950
const HEAD_BYTES = 20

export function createArrayWriter(): ArrayWriter {
  let scratch = Buffer.allocUnsafe(65_536)
  let end = 0

  const reserve = (bytes: number): void => {
    if (end + bytes <= scratch.length) return
    scratch = Buffer.allocUnsafe(Math.max(scratch.length * 2, bytes))
    end = 0
  }
  const start = (elementType: number, count: number, bytes: number): number => {
    reserve(HEAD_BYTES + bytes)
    const begin = end
    for (const word of [1, 1, elementType, count, 1]) end = scratch.writeInt32BE(word, end)
    return begin
  }
  const text = (value: string): void => {
    const length = scratch.write(value, end + 4)
    scratch.writeInt32BE(length, end)
    end += 4 + length
  }
  const fixed = (
    elementType: number,
    bytes: number,
    values: readonly number[],
    write: (buffer: Buffer, value: number, at: number) => number,
  ): Buffer => {
    const begin = start(elementType, values.length, values.length * (4 + bytes))
    for (const value of values) {
      end = scratch.writeInt32BE(bytes, end)
      end = write(scratch, value, end)
    }
    return scratch.subarray(begin, end)
  }
  return {
    reset: () => {
      end = 0
    },
    texts: (values) => {
      const begin = start(TEXT, values.length, roomFor(values))
      for (const value of values) {
        if (value === null) end = scratch.writeInt32BE(-1, end)
        else text(value)
      }
      return scratch.subarray(begin, end)
    },
    uuids: (values) => {
      const begin = start(UUID, values.length, values.length * 20)
      for (const value of values) {
        end = scratch.writeInt32BE(16, end)
        end += scratch.write(value.replaceAll('-', ''), end, 'hex')
      }
      return scratch.subarray(begin, end)
    },
    int8s: (values) => fixed(INT8, 8, values, writeInt8),
    int2s: (values) =>
      fixed(INT2, 2, values, (buffer, value, at) => buffer.writeInt16BE(value, at)),
  }
}

/**
 * Returns the maximum number of bytes of the encoded texts. A UTF-16 code unit takes at most three
 * bytes in UTF-8, and each length takes four bytes.
 */
const roomFor = (values: readonly (string | null)[]): number =>
  values.reduce((sum, value) => sum + 4 + (value?.length ?? 0) * 3, 0)

function writeInt8(buffer: Buffer, value: number, at: number): number {
  const high = Math.floor(value / 2 ** 32)
  buffer.writeInt32BE(high, at)
  return buffer.writeUInt32BE(value - high * 2 ** 32, at + 4)
}
