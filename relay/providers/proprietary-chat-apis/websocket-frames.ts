import { randomBytes } from 'node:crypto'

const TEXT = 1
const CLOSE = 8
const PING = 9
const PONG = 10
const FINAL = 0x80
const MASKED = 0x80
const OPCODE = 0x0f
const LENGTH = 0x7f
const TWO_BYTES = 126
const EIGHT_BYTES = 127

/** Returns one frame that a client sends. The frame is masked (RFC 6455, section 5.2). */
function frame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload
  const head = [FINAL | opcode]
  if (length < TWO_BYTES) head.push(MASKED | length)
  else if (length <= 0xffff) head.push(MASKED | TWO_BYTES, length >> 8, length & 0xff)
  else {
    const long = Buffer.alloc(8)
    long.writeBigUInt64BE(BigInt(length))
    head.push(MASKED | EIGHT_BYTES, ...long)
  }
  const mask = randomBytes(4)
  const masked = Buffer.allocUnsafe(length)
  for (let at = 0; at < length; at += 1) masked[at] = (payload[at] ?? 0) ^ (mask[at & 3] ?? 0)
  return Buffer.concat([Buffer.from(head), mask, masked])
}

export const textFrame = (text: Buffer): Buffer => frame(TEXT, text)
export const closeFrame = (): Buffer => frame(CLOSE, Buffer.from([0x03, 0xe8]))

/**
 * The meaning of received frames: a complete message, a frame to send back, or the end of the
 * connection.
 */
export type ReceivedFrame =
  | { readonly kind: 'message'; readonly text: Buffer }
  | { readonly kind: 'reply'; readonly frame: Buffer }
  | { readonly kind: 'close' }

/**
 * Reads the frames from a server. Throws if a message is longer than `bytesMax`, or if a frame is
 * masked, which servers must not send.
 */
export class FrameReader {
  private readonly bytesMax: number
  private rest: Buffer = Buffer.alloc(0)
  private fragments: Buffer[] = []
  private length = 0

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax
  }

  push(chunk: Buffer): readonly ReceivedFrame[] {
    this.rest = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk])
    const received: ReceivedFrame[] = []
    for (let next = this.next(); next !== null; next = this.next()) {
      const meaning = this.read(next.opcode, next.isFinal, next.payload)
      if (meaning !== null) received.push(meaning)
    }
    return received
  }

  private next(): {
    readonly opcode: number
    readonly isFinal: boolean
    readonly payload: Buffer
  } | null {
    const { rest } = this
    const [first, second] = rest
    if (first === undefined || second === undefined) return null
    const short = second & LENGTH
    const start = short === TWO_BYTES ? 4 : short === EIGHT_BYTES ? 10 : 2
    if (rest.length < start) return null
    const long = () =>
      short === TWO_BYTES ? rest.readUInt16BE(2) : Number(rest.readBigUInt64BE(2))
    const length = start === 2 ? short : long()
    if ((second & MASKED) !== 0) throw new Error('a server must not mask its frames')
    if (this.length + length > this.bytesMax) throw new Error('a message is too long')
    if (rest.length < start + length) return null
    this.rest = rest.subarray(start + length)
    const payload = rest.subarray(start, start + length)
    return { opcode: first & OPCODE, isFinal: (first & FINAL) !== 0, payload }
  }

  private read(opcode: number, isFinal: boolean, payload: Buffer): ReceivedFrame | null {
    if (opcode === PING) return { kind: 'reply', frame: frame(PONG, payload) }
    if (opcode === PONG) return null
    if (opcode === CLOSE) return { kind: 'close' }
    this.fragments.push(Buffer.from(payload))
    this.length += payload.length
    if (!isFinal) return null
    const text = Buffer.concat(this.fragments)
    this.fragments = []
    this.length = 0
    return { kind: 'message', text }
  }
}
