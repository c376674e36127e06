import { setTimeout as delay } from 'node:timers/promises'
import type { AppendConnection } from './append-connection.ts'

/** Wakes the waiting readers when there may be new events. */
export type ReaderNotification = {
  readonly wake: () => void
  /**
   * Resolves once `count` exceeds `seen`, after `timeoutMs` milliseconds, on abort, or at `close`.
   * To miss no event, a reader must call `count` before it checks for events.
   */
  readonly waitBeyond: (seen: number, timeoutMs: number, signal?: AbortSignal) => Promise<void>
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
    waitBeyond: (seen, timeoutMs, signal) =>
      new Promise((resolve) => {
        if (count > seen || isClosed || signal?.aborted) return resolve()
        const resume = (): void => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', resume)
          waiting.delete(resume)
          resolve()
        }
        const timer = setTimeout(resume, timeoutMs)
        timer.unref()
        waiting.add(resume)
        signal?.addEventListener('abort', resume, { once: true })
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
 * Keeps the connection open on which other processes announce their commits. After a reconnection,
 * `onOpened` must look for missed events.
 */
export function keepListening(
  connection: AppendConnection,
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
