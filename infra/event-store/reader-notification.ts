import { setTimeout as delay } from 'node:timers/promises'
import type { FlushConnection } from './append-connection.ts'

/** Wakes the waiting readers when there may be new events. */
export type ReaderNotification = {
  readonly wake: () => void
  /**
   * Resolves as soon as `count` exceeds `seen`, after `timeoutMs`, or at `close`. To miss no event,
   * a reader calls `count` before it checks for events, and then waits with the returned value.
   */
  readonly waitBeyond: (seen: number, timeoutMs: number) => Promise<void>
  readonly count: () => number
  readonly isClosed: () => boolean
  readonly close: () => void
}

export function createReaderNotification(): ReaderNotification {
  const waiting = new Set<() => void>()
  let count = 0
  let isClosed = false
  const wake = (): void => {
    count += 1
    for (const resume of [...waiting]) resume()
  }
  return {
    wake,
    count: () => count,
    isClosed: () => isClosed,
    waitBeyond: (seen, timeoutMs) =>
      new Promise((resolve) => {
        if (count > seen || isClosed) return resolve()
        const resume = (): void => {
          clearTimeout(timer)
          waiting.delete(resume)
          resolve()
        }
        const timer = setTimeout(resume, timeoutMs)
        timer.unref()
        waiting.add(resume)
      }),
    close: () => {
      isClosed = true
      wake()
    },
  }
}

type CommitListener = { readonly close: () => Promise<void> }

const REOPEN_AFTER_MS = 200

/**
 * Keeps the connection open that receives notifications of other processes' commits. A lost
 * connection is reopened. `onOpened` must then look for events that were missed.
 */
export function keepListening(
  connection: FlushConnection,
  onOpened: () => Promise<void>,
): CommitListener {
  let isClosed = false
  const closing = Promise.withResolvers<void>()
  const listen = async (): Promise<void> => {
    const { ended } = await connection.open()
    await onOpened()
    await Promise.race([ended, closing.promise])
  }
  const run = async (): Promise<void> => {
    while (!isClosed) {
      await listen().catch(() => {})
      await Promise.race([delay(REOPEN_AFTER_MS, undefined, { ref: false }), closing.promise])
    }
  }
  const running = run()
  return {
    close: async () => {
      isClosed = true
      closing.resolve()
      connection.drop()
      await running
    },
  }
}
