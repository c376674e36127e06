import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib'

/** What is used of Node's decoders. `bytesWritten` is the number of input bytes read so far. */
type Decoder = ReturnType<typeof createGunzip>

export type BodyCoding = {
  readonly create: () => Decoder
  /** The most memory in bytes that the decoder itself uses, above all for its window. */
  readonly memory: number
}

const KB = 1024
const MB = KB * KB
/** Deflate's window has 32 KB. The rest is the state of the decoder and its output buffer. */
const DEFLATE_MEMORY = 96 * KB
/** RFC 9659 limits the window of the coding `zstd` to 8 MB. */
const ZSTD_WINDOW_LOG_MAX = 23
const ZSTD_OPTIONS = { params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX } }
const gzip: BodyCoding = { create: () => createGunzip(), memory: DEFLATE_MEMORY }

/** The codings of compressed request bodies, by their names in `Content-Encoding`. */
const CODINGS: ReadonlyMap<string, BodyCoding> = new Map([
  ['gzip', gzip],
  ['x-gzip', gzip],
  ['deflate', { create: () => createInflate(), memory: DEFLATE_MEMORY }],
  // A Brotli stream selects its window, which has up to 16 MB.
  ['br', { create: () => createBrotliDecompress(), memory: 16 * MB + DEFLATE_MEMORY }],
  [
    'zstd',
    {
      create: () => createZstdDecompress(ZSTD_OPTIONS),
      memory: (1 << ZSTD_WINDOW_LOG_MAX) + 256 * KB,
    },
  ],
])

/**
 * Returns the coding that a `Content-Encoding` header names. Returns null for a plain body, and
 * undefined for any other coding. Several codings are never accepted, because each could multiply
 * the size of the body again.
 */
export function codingIn(header: string | undefined): BodyCoding | null | undefined {
  const name = (header ?? '').trim().toLowerCase()
  return name === '' || name === 'identity' ? null : CODINGS.get(name)
}

/** A body that is larger than this may not be `RATIO_MAX` times as large as it was sent. */
const RATIO_FROM_BYTES = MB
/** Real JSON is compressed to no less than about a fiftieth of its size. */
export const RATIO_MAX = 100

type Sink = {
  readonly data: (bytes: Buffer) => void
  readonly end: () => void
  readonly fail: (reason: 'invalid' | 'ratio') => void
}

/**
 * Decompresses a body while it arrives. `write` returns false if the caller must wait for `onDrain`
 * before the next bytes. The sink gets no call after `stop`, or after its `end` or `fail`.
 */
export class BodyDecoder {
  private readonly decoder: Decoder
  private readonly sink: Sink
  private isOver = false
  private hasEnded = false
  private isComplete = false
  private received = 0
  private produced = 0

  constructor({ create }: BodyCoding, sink: Sink, onDrain: () => void) {
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
    // Bytes behind the end of the compressed data.
    this.fail('invalid')
    return true
  }

  /** Tells that the body has arrived completely. */
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
