import type { AllStreamSubscription } from '@eventstore/db-client'
import type { Resolved } from './stored-event.ts'

export type BufferedSubscription = {
  /**
   * Returns up to `limit` events. Waits at most `idleMs` milliseconds for the first event. Returns
   * `idle` if none arrives, and `broken` if the subscription has ended.
   */
  readonly take: (limit: number, idleMs: number) => Promise<readonly Resolved[] | 'idle' | 'broken'>
  readonly staysEmpty: (ms: number) => Promise<boolean>
  readonly reason: () => string
  readonly close: () => void
}

/** Buffers the events of a subscription. A full buffer pauses the stream and the server. */
export function bufferSubscription(
  subscription: AllStreamSubscription,
  batch: number,
): BufferedSubscription {
  const readable = subscription as unknown as NodeJS.ReadableStream & AllStreamSubscription
  const eventsMax = batch * 2
  let events: Resolved[] = []
  let broken: string | null = null
  let wake = (): void => {}

  const end = (reason: string): void => {
    broken ??= reason
    wake()
  }
  // NOTE: an error without a listener would end the process, so the listener is never removed.
  readable.on('error', (error: Error) => end(error.message))
  readable.on('end', () => end('ended'))
  readable.on('close', () => end('closed'))
  readable.on('data', (resolved) => {
    events.push(resolved as never)
    if (events.length >= eventsMax) readable.pause()
    wake()
  })
  const something = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      if (events.length > 0 || broken !== null) return resolve()
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  return {
    take: async (limit, idleMs) => {
      await something(idleMs)
      if (events.length === 0) return broken === null ? 'idle' : 'broken'
      const batch = events.slice(0, limit)
      events = events.slice(limit)
      if (broken === null) readable.resume()
      return batch
    },
    staysEmpty: async (ms) => {
      await something(ms)
      return events.length === 0
    },
    reason: () => broken ?? 'silent',
    close: () => {
      end('closed')
      readable.pause()
      subscription.unsubscribe().catch(() => {})
    },
  }
}
