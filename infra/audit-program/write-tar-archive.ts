const BLOCK = 512

/**
 * Yields the bytes of one file in a tar archive (POSIX ustar): the header, the content and the
 * padding. `seconds` is the modification time in Unix seconds.
 */
export function* tarFile(name: string, bytes: Buffer, seconds: number): Generator<Buffer> {
  yield header(name, bytes.length, seconds)
  yield bytes
  const rest = bytes.length % BLOCK
  if (rest > 0) yield Buffer.alloc(BLOCK - rest)
}

/** The two empty blocks that end a tar archive. */
export const TAR_END = Buffer.alloc(2 * BLOCK)

const CHECKSUM = { offset: 148, length: 8 }

function header(name: string, size: number, seconds: number): Buffer {
  const block = Buffer.alloc(BLOCK)
  const octal = (value: number, length: number, offset: number) =>
    block.write(value.toString(8).padStart(length - 1, '0'), offset)
  block.write(name, 0, 100)
  octal(0o644, 8, 100)
  octal(0, 8, 108)
  octal(0, 8, 116)
  octal(size, 12, 124)
  octal(seconds, 12, 136)
  block.fill(' ', CHECKSUM.offset, CHECKSUM.offset + CHECKSUM.length)
  block.write('0', 156)
  block.write('ustar\u000000', 257, 'latin1')
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\u0000 `, CHECKSUM.offset, 'latin1')
  return block
}
