import { BODY_BYTES_MAX, type BodyMemory, type BodyMemoryShare } from '#relay/limits/body-memory.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import { type BodyCoding, BodyDecoder, codingIn, RATIO_MAX } from './decompress-body.ts'
import type { CallRequest } from './http-request-and-response-types.ts'

const TOO_LARGE = relayError('request_too_large', {
  subject: String(BODY_BYTES_MAX / 1024 / 1024),
})
const NO_MEMORY = relayError('overloaded', { retryAfter: 2 })
const INCOMPLETE = relayError('request_incomplete')
const UNKNOWN_CODING = relayError('unsupported_content_encoding')
const CODING_ERRORS = {
  invalid: relayError('invalid_content_encoding'),
  ratio: relayError('compressed_too_far', { subject: String(RATIO_MAX) }),
} as const
const JOINED_BYTES_MAX = 1024 * 1024
const JSON_TYPE = /^application\/json\s*(?:;|$)/i

/**
 * Returns the error for a user whose request bodies already use all of this user's share of the
 * memory.
 */
export const memoryShareError = ({ bytesMax }: BodyMemoryShare): RelayError =>
  relayError('too_many_concurrent', {
    subject: `${bytesMax / 1024 / 1024} MB of requests (this user)`,
    retryAfter: 5,
  })

/**
 * Reads the complete body and decompresses it. `memory` counts the body's bytes in total and for
 * the user (`owner`). After success, the caller must give `body.length` bytes back to both counts.
 * After an error, nothing must be given back. `mediaType` matches the required media type, which is
 * JSON by default.
 */
export function readBody(
  request: CallRequest,
  memory: BodyMemory,
  owner: BodyMemoryShare | null = null,
  mediaType = JSON_TYPE,
): Promise<Buffer | RelayError> {
  const { headers } = request
  const coding = codingIn(headers['content-encoding'])
  if (coding === undefined) return Promise.resolve(UNKNOWN_CODING)
  if (!mediaType.test(headers['content-type'] ?? '')) {
    return Promise.resolve(relayError('unsupported_media_type'))
  }
  const declared = Number(headers['content-length'] ?? 0)
  if (declared > BODY_BYTES_MAX) return Promise.resolve(TOO_LARGE)
  // The caller disconnected during authentication.
  if (request.destroyed) return Promise.resolve(INCOMPLETE)
  return new Promise((resolve) => {
    const collector = new BodyCollector(memory, owner, resolve)
    if (coding === null) collector.collectPlain(request, declared)
    else collector.collectCompressed(request, coding)
  })
}

/** Collects the bytes of one body. If the body is refused, all memory is given back. */
class BodyCollector {
  private readonly memory: BodyMemory
  private readonly owner: BodyMemoryShare | null
  private readonly resolve: (outcome: Buffer | RelayError) => void
  /**
   * A large body is written directly into one buffer. Joining its chunks would need twice the
   * memory.
   */
  private whole: Buffer | null = null
  private chunks: Buffer[] = []
  private length = 0
  /**
   * The number of bytes reserved for this body out of the memory that one user's request bodies may
   * use.
   */
  private reserved = 0
  private decoder: BodyDecoder | null = null
  private decoderBytes = 0
  private isOver = false

  constructor(
    memory: BodyMemory,
    owner: BodyMemoryShare | null,
    resolve: (outcome: Buffer | RelayError) => void,
  ) {
    this.memory = memory
    this.owner = owner
    this.resolve = resolve
  }

  collectPlain(request: CallRequest, declared: number): void {
    if (!this.reserve(declared)) return
    if (declared > JOINED_BYTES_MAX) this.whole = Buffer.allocUnsafe(declared)
    request.on('data', (chunk: Buffer) => this.add(chunk))
    request.on('end', () => this.end())
    this.watchClose(request)
  }

  /**
   * Reads a compressed body. The decoder's memory is counted until the decoder is no longer used.
   */
  collectCompressed(request: CallRequest, coding: BodyCoding): void {
    let sent = 0
    request.on('data', (chunk: Buffer) => {
      if (this.isOver) return
      sent += chunk.length
      if (sent > BODY_BYTES_MAX) return this.refuse(TOO_LARGE)
      this.decoder ??= this.openDecoder(request, coding, chunk)
      if (this.decoder?.write(chunk) === false) request.pause()
    })
    request.on('end', () => {
      if (this.decoder === null) this.refuse(CODING_ERRORS.invalid)
      else this.decoder.end()
    })
    this.watchClose(request)
  }

  private openDecoder(request: CallRequest, coding: BodyCoding, start: Buffer): BodyDecoder | null {
    const openCoding = coding.open(start)
    if (!this.memory.takeDecoder(this.owner, openCoding.memory)) {
      this.refuse(NO_MEMORY)
      return null
    }
    this.decoderBytes = openCoding.memory
    const sink = {
      data: (chunk: Buffer) => this.add(chunk),
      end: () => this.end(),
      fail: (reason: 'invalid' | 'ratio') => this.refuse(CODING_ERRORS[reason]),
    }
    return new BodyDecoder(openCoding, sink, () => request.resume())
  }

  /** Refuses the body if the connection closes before it is complete. */
  private watchClose(request: CallRequest): void {
    request.on('close', () => request.readableEnded || this.refuse(INCOMPLETE))
  }

  private reserve(bytes: number): boolean {
    const { owner } = this
    if (owner !== null && !this.memory.reserve(owner, bytes)) {
      this.refuse(memoryShareError(owner))
      return false
    }
    this.reserved += bytes
    return true
  }

  private add(chunk: Buffer): void {
    if (this.isOver) return
    const length = this.length + chunk.length
    if (length > BODY_BYTES_MAX) return this.refuse(TOO_LARGE)
    if (length > this.reserved && !this.reserve(length - this.reserved)) return
    if (!this.memory.take(chunk.length)) return this.refuse(NO_MEMORY)
    if (this.whole === null) this.chunks.push(chunk)
    else chunk.copy(this.whole, this.length)
    this.length = length
  }

  private end(): void {
    if (this.isOver) return
    this.isOver = true
    this.giveBackDecoder()
    const { whole, chunks, length } = this
    const [first] = chunks
    this.chunks = []
    if (whole !== null) this.resolve(whole.subarray(0, length))
    else if (chunks.length === 1 && first !== undefined) this.resolve(first)
    else this.resolve(Buffer.concat(chunks, length))
  }

  private refuse(reason: RelayError): void {
    if (this.isOver) return
    this.isOver = true
    this.decoder?.stop()
    this.giveBackDecoder()
    this.memory.giveBack(this.length)
    if (this.owner !== null) this.memory.release(this.owner, this.reserved)
    this.chunks = []
    this.whole = null
    this.resolve(reason)
  }

  private giveBackDecoder(): void {
    if (this.decoderBytes > 0) this.memory.giveBackDecoder(this.owner, this.decoderBytes)
    this.decoderBytes = 0
  }
}
