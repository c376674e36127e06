import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

type Limits = {
  /** The interval in milliseconds at which the progress of a slow upload is checked. */
  readonly checkMs: number
  /** The minimum number of bytes per second that must arrive between two checks. */
  readonly bytesPerSecondMin: number
  /**
   * The maximum time in milliseconds for which an upload may continue after the server's request
   * timeout.
   */
  readonly totalMs: number
  /** The maximum number of slow uploads in this process at a time. */
  readonly uploadsMax: number
}

const LIMITS: Limits = {
  checkMs: 15_000,
  bytesPerSecondMin: 16 * 1024,
  totalMs: 3_600_000,
  uploadsMax: 256,
}

export type SlowUploads = {
  /**
   * Registers a request with a possibly long body, whose upload is then allowed to take longer than
   * the server's request timeout.
   */
  readonly note: (request: IncomingMessage) => void
  /**
   * Reports whether the request on this socket may continue after the server's request timeout. If
   * so, the connection of the request is watched from then on, and closed when too few bytes arrive
   * or `totalMs` is over.
   */
  readonly mayContinue: (socket: Socket) => boolean
}

/**
 * Lets large files arrive over slow connections. A request without progress still ends, so that a
 * client can't accumulate idle connections. Node reports a connection only when its request exceeds
 * the timeout, so ordinary requests cost nothing here.
 */
export function createSlowUploads(limits: Limits = LIMITS): SlowUploads {
  const requests = new WeakMap<Socket, IncomingMessage>()
  let uploads = 0
  return {
    note: (request) => {
      requests.set(request.socket, request)
    },
    mayContinue: (socket) => {
      const request = requests.get(socket)
      const isUpload = request !== undefined && !request.complete && !request.destroyed
      if (!isUpload || uploads >= limits.uploadsMax) return false
      uploads += 1
      watch(request, limits, () => {
        uploads -= 1
      })
      return true
    },
  }
}

function watch(
  request: IncomingMessage,
  { checkMs, bytesPerSecondMin, totalMs }: Limits,
  onEnd: () => void,
): void {
  const { socket } = request
  const endsAt = performance.now() + totalMs
  const least = (bytesPerSecondMin * checkMs) / 1_000
  let bytes = socket.bytesRead
  const timer = setInterval(() => {
    const isMoving = socket.bytesRead - bytes >= least && performance.now() < endsAt
    bytes = socket.bytesRead
    if (request.complete || request.destroyed || socket.destroyed) clearInterval(timer)
    else if (isMoving) return
    else {
      clearInterval(timer)
      socket.destroy()
    }
    onEnd()
  }, checkMs)
  timer.unref()
}
