import { BODY_BYTES_MAX, type BodyMemory, type BodyOwner } from '#relay/limits/body-memory.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { CallRequest } from './http-messages.ts'

const TOO_LARGE = relayError('request_too_large', {
  subject: String(BODY_BYTES_MAX / 1024 / 1024),
})
const NO_ROOM = relayError('overloaded', { retryAfter: 2 })
const INCOMPLETE = relayError('request_incomplete')
const GATHERED_BYTES_MAX = 1024 * 1024
const JSON_TYPE = /^application\/json\s*(?:;|$)/i

const shareIsFull = ({ bytesMax }: BodyOwner): RelayError =>
  relayError('too_many_concurrent', {
    subject: `${bytesMax / 1024 / 1024} MB of requests (this user)`,
    retryAfter: 5,
  })

/**
 * Reads the complete body. Its bytes are counted in `memory` and in the user's share. After
 * success, the caller must give `body.length` bytes back to both. After an error, nothing must be
 * given back. A body must have the media type, which is JSON by default.
 */
export function readBody(
  request: CallRequest,
  memory: BodyMemory,
  owner: BodyOwner | null = null,
  mediaType = JSON_TYPE,
): Promise<Buffer | RelayError> {
  const { headers } = request
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity' || !mediaType.test(headers['content-type'] ?? '')) {
    return Promise.resolve(relayError('unsupported_media_type'))
  }
  const declared = Number(headers['content-length'] ?? 0)
  if (declared > BODY_BYTES_MAX) return Promise.resolve(TOO_LARGE)
  // The caller disconnected during authentication.
  if (request.destroyed) return Promise.resolve(INCOMPLETE)
  if (owner !== null && !memory.reserve(owner, declared)) {
    return Promise.resolve(shareIsFull(owner))
  }
  return gather(request, memory, owner, declared)
}

function gather(
  request: CallRequest,
  memory: BodyMemory,
  owner: BodyOwner | null,
  declared: number,
): Promise<Buffer | RelayError> {
  return new Promise((resolve) => {
    // A large body is written directly into one buffer. Joining its chunks would need twice the
    // memory.
    let whole = declared > GATHERED_BYTES_MAX ? Buffer.allocUnsafe(declared) : null
    let parts: Buffer[] = []
    let length = 0
    let reserved = declared
    let error: RelayError | null = null
    const give = (reason: RelayError): void => {
      if (error !== null) return
      error = reason
      memory.giveBack(length)
      if (owner !== null) memory.release(owner, reserved)
      parts = []
      whole = null
      resolve(reason)
    }
    request.on('data', (part: Buffer) => {
      if (error !== null) return
      if (length + part.length > BODY_BYTES_MAX) return give(TOO_LARGE)
      const beyond = Math.max(0, length + part.length - reserved)
      if (owner !== null && beyond > 0 && !memory.reserve(owner, beyond)) {
        return give(shareIsFull(owner))
      }
      reserved += beyond
      if (!memory.take(part.length)) return give(NO_ROOM)
      if (whole === null) parts.push(part)
      else part.copy(whole, length)
      length += part.length
    })
    request.on('end', () => {
      if (error !== null) return
      const [first] = parts
      if (whole !== null) resolve(whole.subarray(0, length))
      else resolve(parts.length === 1 && first !== undefined ? first : Buffer.concat(parts, length))
    })
    // The connection closed before the body was complete.
    request.on('close', () => request.readableEnded || give(INCOMPLETE))
  })
}
