import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'

/** A file of an upload, which is stored on disk until the call has ended. */
export type SpooledFile = {
  /** The caller's name for the file, without folders and control characters. */
  readonly name: string
  readonly type: string
  readonly bytes: number
  /** The SHA-256 hash of the content in hexadecimal form. */
  readonly sha256: string
  /** Returns a stream of the complete content. The content may be opened several times. */
  readonly open: () => Readable
  /**
   * Reads `length` bytes from the offset `position`. The result is shorter at the end of the file.
   */
  readonly read: (position: number, length: number) => Promise<Buffer>
  readonly close: () => Promise<void>
}

export type FileDescription = { readonly name: string; readonly type: string }

const NAME_LENGTH_MAX = 200
const MEDIA_TYPE = /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/
const CHUNK_BYTES = 64 * 1024
/**
 * The number of written bytes after which the free space on the disk is checked again while a file
 * is written.
 */
const CHECK_BYTES = 32 * 1024 * 1024

/**
 * Writes a stream to a file on disk. `hasRoom` reports whether the disk has room for more. If the
 * stream fails or the disk is full, closes the file and rejects.
 */
export async function spool(
  content: AsyncIterable<Buffer>,
  { name, type }: FileDescription,
  handle: FileHandle,
  hasRoom: () => Promise<boolean>,
): Promise<SpooledFile> {
  const hash = createHash('sha256')
  let bytes = 0
  let checkAt = CHECK_BYTES
  try {
    for await (const chunk of content) {
      hash.update(chunk)
      await writeWhole(handle, chunk)
      bytes += chunk.length
      if (bytes < checkAt) continue
      checkAt += CHECK_BYTES
      if (!(await hasRoom())) throw new Error('the disk is full')
    }
  } catch (error) {
    await handle.close()
    throw error
  }
  return {
    name: plainName(name),
    type: MEDIA_TYPE.test(type) ? type.toLowerCase() : 'application/octet-stream',
    bytes,
    sha256: hash.digest('hex'),
    open: () => Readable.from(chunksIn(handle), { objectMode: false, highWaterMark: CHUNK_BYTES }),
    read: async (position, length) => {
      const buffer = Buffer.alloc(Math.max(0, Math.min(length, bytes - position)))
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, position)
      return buffer.subarray(0, bytesRead)
    },
    close: () => handle.close(),
  }
}

/**
 * Yields the content of a file from its beginning. NOTE: a stream of `createReadStream` closes the
 * handle if the stream is destroyed before its end, even with `autoClose: false`. A provider that
 * answers before it has read the whole file would make the file unreadable for the next channel.
 */
async function* chunksIn(handle: FileHandle): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, position)
    if (bytesRead === 0) return
    position += bytesRead
    yield chunk.subarray(0, bytesRead)
  }
}

async function writeWhole(handle: FileHandle, chunk: Buffer): Promise<void> {
  let written = 0
  while (written < chunk.length) {
    const { bytesWritten } = await handle.write(chunk, written)
    written += bytesWritten
  }
}

/**
 * Returns the last segment of a file name, without characters that could change a header or a path,
 * or `file` if nothing is left. A long name is cut at its beginning, because providers derive the
 * format from the extension.
 */
export function plainName(name: string): string {
  const last = name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are removed.
  const plain = last.replace(/[\x00-\x1f\x7f"\u2028\u2029]/g, '').slice(-NAME_LENGTH_MAX)
  return plain === '' || /^\.+$/.test(plain) ? 'file' : plain.toWellFormed()
}
