import { crc32 } from 'node:zlib'
import { EventStreamCodec } from '@smithy/core/event-streams'
import { type JsonObject, parsedObject } from '#relay/canonical/json-values.ts'
import { EVENT_BYTES_MAX } from '#relay/canonical/sse-scanner.ts'
import type { DecoderFault } from '#relay/providers/provider-access-and-decoder-types.ts'
import { anthropicError, messageIn } from './aws-errors-as-anthropic-errors.ts'

/**
 * The maximum length of a frame in bytes. A frame contains one event in base64, which is a third
 * longer than the event itself.
 */
const FRAME_BYTES_MAX = EVENT_BYTES_MAX * 1.5
/**
 * The length in bytes of a frame's prelude. The prelude contains the length of the frame, the
 * length of the frame's headers, and a checksum of both.
 */
const PRELUDE_BYTES = 12
const FRAME_BYTES_MIN = PRELUDE_BYTES + 4
const TYPE = /^\s*\{\s*"type"\s*:\s*"([a-z_]{1,64})"/

/**
 * Decodes an AWS event stream (`application/vnd.amazon.eventstream`) from Bedrock's
 * `InvokeModelWithResponseStream` to server-sent events. The payload of a frame is `{"bytes":
 * base64}` with one event of Anthropic's Messages API. An exception becomes an event `error`. At
 * most one frame is held in memory.
 */
export class AwsEventStreamDecoder {
  /** Set once a frame is too long or damaged. All later bytes are ignored. */
  fault: DecoderFault | null = null
  private readonly codec = new EventStreamCodec(
    (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
    (text) => Buffer.from(text, 'utf8'),
  )
  private readonly prelude = Buffer.alloc(PRELUDE_BYTES)
  /** The current frame. Null until its length is known. */
  private frame: Buffer | null = null
  /**
   * The number of bytes of the current frame that have arrived. While the frame's length is
   * unknown, only bytes of its prelude are counted.
   */
  private filled = 0

  /** Returns the events that the chunk completes. */
  push(chunk: Buffer): Buffer {
    let events = ''
    let at = 0
    while (at < chunk.length && this.fault === null) {
      const target: Buffer = this.frame ?? this.prelude
      const copied = chunk.copy(target, this.filled, at)
      at += copied
      this.filled += copied
      if (this.filled < target.length) break
      if (this.frame === null) this.beginFrame()
      else events += this.endFrame(this.frame)
    }
    return Buffer.from(events)
  }

  private beginFrame(): void {
    const length = this.prelude.readUInt32BE(0)
    const isIntact = crc32(this.prelude.subarray(0, 8)) === this.prelude.readUInt32BE(8)
    if (!isIntact || length < FRAME_BYTES_MIN) this.fault = 'cut'
    else if (length > FRAME_BYTES_MAX) this.fault = 'too-large'
    else {
      this.frame = Buffer.allocUnsafe(length)
      this.prelude.copy(this.frame)
    }
  }

  private endFrame(frame: Buffer): string {
    this.frame = null
    this.filled = 0
    try {
      const { headers, body } = this.codec.decode(frame)
      const payload = parsedObject(Buffer.from(body).toString('utf8'))
      const nameOf = (name: string): string => String(headers[name]?.value ?? '')
      if (nameOf(':message-type') === 'event') {
        return nameOf(':event-type') === 'chunk' ? eventOf(payload) : ''
      }
      const exception = nameOf(':exception-type') || nameOf(':error-code')
      const message = nameOf(':error-message') || messageIn(payload)
      return `event: error\ndata: ${JSON.stringify(anthropicError(exception, message))}\n\n`
    } catch {
      // The library throws if a checksum is wrong or the headers are unreadable.
      this.fault = 'cut'
      return ''
    }
  }
}

/** Returns the server-sent event in a payload. Throws if the payload contains none. */
function eventOf(payload: JsonObject | null): string {
  if (typeof payload?.bytes !== 'string') throw new Error('a frame contains no bytes')
  const data = Buffer.from(payload.bytes, 'base64').toString('utf8')
  const type = TYPE.exec(data)?.[1] ?? parsedObject(data)?.type
  if (typeof type !== 'string' || !/^[a-z_]{1,64}$/.test(type)) {
    throw new Error('an event has no type')
  }
  const lines = data.trim().replace(/\r\n|\r|\n/g, '\ndata: ')
  return `event: ${type}\ndata: ${lines}\n\n`
}
