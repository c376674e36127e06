import type { Socket } from 'node:net'
import type { buildConnector } from 'undici'

const INTERIM = Buffer.from('HTTP/1.1 1')
const SWITCHING = Buffer.from('HTTP/1.1 101')
const HEAD_END = '\r\n\r\n'
const HEAD_BYTES_MAX = 16 * 1024
const REQUEST_HEAD = /^[A-Z]+ \S+ HTTP\/1\.1\r\n/

/**
 * Makes a connector skip unrequested interim responses (1xx), as RFC 9110 (15.2) requires. undici
 * treats a `100 Continue` as a broken response. A 101 remains an error, because no request asks for
 * another protocol.
 */
export const withoutInterim =
  (connect: buildConnector.connector): buildConnector.connector =>
  (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null)
      skipInterim(socket)
      callback(null, socket)
    })

/**
 * Replaces `write` and `read` of the socket to drop interim responses. This works because undici
 * writes the head of a request as one string, and reads only by calling `read`.
 */
function skipInterim(socket: Socket): void {
  const write = socket.write.bind(socket) as (...given: unknown[]) => boolean
  const read = socket.read.bind(socket)
  let isHeadNext = false
  let held: Buffer = Buffer.alloc(0)
  socket.write = ((chunk: unknown, encoding?: unknown, callback?: unknown) => {
    if (typeof chunk === 'string' && REQUEST_HEAD.test(chunk)) isHeadNext = true
    return write(chunk, encoding, callback)
  }) as typeof socket.write
  socket.read = (size?: number) => {
    const chunk = read(size) as Buffer | null
    if (!isHeadNext || chunk === null) return chunk
    if (held.length === 0 && isFinal(chunk)) {
      isHeadNext = false
      return chunk
    }
    held = afterInterim(held.length === 0 ? chunk : Buffer.concat([held, chunk]))
    if (held.length < HEAD_BYTES_MAX && mayBeInterim(held)) return null
    const answer = held
    held = Buffer.alloc(0)
    isHeadNext = false
    return answer
  }
}

/**
 * Reports whether the status code is certainly not 1xx. This fast check is sufficient for nearly
 * all responses.
 */
const isFinal = (bytes: Buffer): boolean =>
  bytes.length >= INTERIM.length && bytes[INTERIM.length - 1] !== INTERIM[INTERIM.length - 1]

function afterInterim(bytes: Buffer): Buffer {
  let rest = bytes
  while (rest.length >= SWITCHING.length && mayBeInterim(rest)) {
    const end = rest.indexOf(HEAD_END)
    if (end < 0) break
    rest = rest.subarray(end + HEAD_END.length)
  }
  return rest
}

/**
 * Reports whether the bytes may begin an interim response other than 101. This is also true while
 * the status code is incomplete.
 */
function mayBeInterim(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, INTERIM.length)
  if (!bytes.subarray(0, length).equals(INTERIM.subarray(0, length))) return false
  return !bytes.subarray(0, SWITCHING.length).equals(SWITCHING)
}
