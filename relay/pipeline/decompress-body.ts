import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib'

/** One of Node's decoders. Its `bytesWritten` is the number of input bytes read so far. */
type Decoder = ReturnType<typeof createGunzip>

/** A coding of compressed bodies. */
export type BodyCoding = {
  /** Returns the decoder for a body that begins with the bytes `start`. */
  readonly open: (start: Buffer) => OpenCoding
}

type OpenCoding = {
  readonly create: () => Decoder
  /**
   * The maximum number of bytes that the decoder itself uses. Most of them are for its window: the
   * recent output to which compressed data can refer.
   */
  readonly memory: number
}

const KB = 1024
const MB = KB * KB
/**
 * The number of bytes that a decoder for Deflate uses: 32 KB for its window, and the rest for its
 * state and its output buffer.
 */
const DEFLATE_MEMORY = 96 * KB
const gzip: BodyCoding = {
  open: () => ({ create: () => createGunzip(), memory: DEFLATE_MEMORY }),
}

/** The codings of compressed request bodies, by their names in `Content-Encoding`. */
const CODINGS: ReadonlyMap<string, BodyCoding> = new Map<string, BodyCoding>([
  ['gzip', gzip],
  ['x-gzip', gzip],
  ['deflate', { open: () => ({ create: () => createInflate(), memory: DEFLATE_MEMORY }) }],
  ['br', { open: openBrotli }],
  ['zstd', { open: openZstd }],
])

/**
 * The maximum number of bytes for Brotli's prefix codes. A block may have hundreds of these codes.
 */
const BROTLI_CODES = 4 * MB
const BROTLI_WINDOW_BITS_MAX = 24

/**
 * Reads the window size at the start of a Brotli stream (RFC 7932, section 9.1). The decoder's
 * memory depends on this size.
 */
function openBrotli(start: Buffer): OpenCoding {
  const bits = start[0] ?? 0xff
  const middle = (bits >> 1) & 7
  const high = (bits >> 4) & 7
  const ofHigh = high === 0 ? 17 : high === 1 ? BROTLI_WINDOW_BITS_MAX : 8 + high
  const ofMiddle = middle === 0 ? ofHigh : 17 + middle
  const windowBits = (bits & 1) === 0 ? 16 : ofMiddle
  return { create: () => createBrotliDecompress(), memory: 2 ** windowBits + BROTLI_CODES }
}

const ZSTD_MAGIC = 0xfd2fb528
const ZSTD_STATE = 512 * KB
const ZSTD_WINDOW_LOG_MIN = 10
/** RFC 9659 limits the window of the coding `zstd` to 8 MB. */
const ZSTD_WINDOW_LOG_MAX = 23

/**
 * Reads the window size at the start of the first zstd frame. The decoder rejects later frames with
 * a larger window, so that it never uses more memory than was counted.
 */
function openZstd(start: Buffer): OpenCoding {
  const log = Math.min(ZSTD_WINDOW_LOG_MAX, Math.max(ZSTD_WINDOW_LOG_MIN, zstdWindowLog(start)))
  const options = { params: { [constants.ZSTD_d_windowLogMax]: log } }
  return { create: () => createZstdDecompress(options), memory: 2 ** log + ZSTD_STATE }
}

/** The length in bytes of the dictionary id in a frame header, by the value of its flag. */
const DICTIONARY_ID_BYTES = [0, 1, 2, 4]
/** The length in bytes of the content size, by the value of its flag (RFC 8878, 3.1.1.1). */
const CONTENT_SIZE_BYTES = [1, 2, 4, 8]
const HEADER_BYTES_MAX = 18

/**
 * Returns the base-2 logarithm of the first frame's window size in bytes. If the header can't be
 * read, returns the largest allowed value.
 */
function zstdWindowLog(start: Buffer): number {
  if (start.length < HEADER_BYTES_MAX || start.readUInt32LE(0) !== ZSTD_MAGIC) {
    return ZSTD_WINDOW_LOG_MAX
  }
  const descriptor = start[4] ?? 0
  const isSingleSegment = (descriptor & 0x20) !== 0
  if (!isSingleSegment) {
    const window = start[5] ?? 0
    const mantissa = window & 7
    return ZSTD_WINDOW_LOG_MIN + (window >> 3) + (mantissa === 0 ? 0 : 1)
  }
  const at = 5 + (DICTIONARY_ID_BYTES[descriptor & 3] ?? 0)
  const length = CONTENT_SIZE_BYTES[descriptor >> 6] ?? 8
  if (length === 8) return ZSTD_WINDOW_LOG_MAX
  const size = start.readUIntLE(at, length) + (length === 2 ? 256 : 0)
  return Math.ceil(Math.log2(Math.max(1, size)))
}

/**
 * Returns the coding that a `Content-Encoding` header names. Returns null for a body that is not
 * compressed, and undefined for a coding that is not supported. A list of several codings is never
 * accepted, because each coding could multiply the size of the body again.
 */
export function codingIn(header: string | undefined): BodyCoding | null | undefined {
  const name = (header ?? '').trim().toLowerCase()
  return name === '' || name === 'identity' ? null : CODINGS.get(name)
}

/** `RATIO_MAX` applies only if the decompressed body is larger than this number of bytes. */
const RATIO_FROM_BYTES = MB
/**
 * The maximum ratio of decompressed bytes to compressed bytes. Compression makes the JSON of real
 * requests at most about 50 times smaller.
 */
export const RATIO_MAX = 100

type Sink = {
  readonly data: (bytes: Buffer) => void
  readonly end: () => void
  readonly fail: (reason: 'invalid' | 'ratio') => void
}

/**
 * Decompresses a body while it arrives. `write` returns false if the caller must wait for `onDrain`
 * before the next bytes. No method of the sink is called after `stop`, or after the sink's `end` or
 * `fail`.
 */
export class BodyDecoder {
  private readonly decoder: Decoder
  private readonly sink: Sink
  private isOver = false
  private hasEnded = false
  private isComplete = false
  private received = 0
  private produced = 0

  constructor({ create }: OpenCoding, sink: Sink, onDrain: () => void) {
    this.sink = sink
    this.decoder = create()
    this.decoder.on('data', (bytes: Buffer) => this.take(bytes))
    this.decoder.on('end', () => {
      this.hasEnded = true
      this.finish()
    })
    this.decoder.on('error', () => this.fail('invalid'))
    this.decoder.on('drain', () => {
      if (!this.isOver) onDrain()
    })
  }

  write(bytes: Buffer): boolean {
    if (this.isOver) return true
    this.received += bytes.length
    if (!this.hasEnded) return this.decoder.write(bytes)
    // These bytes follow the end of the compressed data.
    this.fail('invalid')
    return true
  }

  /** Must be called when the body has arrived completely. */
  end(): void {
    this.isComplete = true
    if (this.hasEnded) this.finish()
    else if (!this.isOver) this.decoder.end()
  }

  stop(): void {
    this.isOver = true
    this.decoder.destroy()
  }

  private take(bytes: Buffer): void {
    if (this.isOver) return
    this.produced += bytes.length
    const isLarge = this.produced > RATIO_FROM_BYTES
    if (isLarge && this.produced > this.received * RATIO_MAX) this.fail('ratio')
    else this.sink.data(bytes)
  }

  private finish(): void {
    if (this.isOver || !this.isComplete) return
    if (this.decoder.bytesWritten !== this.received) return this.fail('invalid')
    this.stop()
    this.sink.end()
  }

  private fail(reason: 'invalid' | 'ratio'): void {
    if (this.isOver) return
    this.stop()
    this.sink.fail(reason)
  }
}
