import type { Recorded } from '#domain/shared/event.ts'
import type { OnBatch, SubscribeOptions, Subscription } from './port.ts'
import type { ReaderNotification } from './reader-notification.ts'

const BATCH_DEFAULT = 500
/**
 * The time in milliseconds between two polls. Polling is only a fallback, because appends wake the
 * readers.
 */
const POLL_MS = 5_000

/**
 * Events of a subscription. The page contains all matching events after the requested position and
 * up to `position`.
 */
export type Page = { readonly events: readonly Recorded[]; readonly position: number }

export type PageRequest = {
  readonly after: number
  readonly limit: number
  readonly isWanted: StreamFilter | null
  readonly streamPrefixes: readonly string[] | null
}

export type StreamFilter = (stream: string) => boolean

export type PagedSubscription = SubscribeOptions & {
  /**
   * Reads a page. A read that rejects is repeated. `isPoll` is true if no commit was announced for
   * some time. The function must then ask the store for new events, unless another subscription has
   * just asked, because the answer wakes all subscriptions.
   */
  readonly readPage: (request: PageRequest, isPoll: boolean) => Promise<Page>
  readonly notification: ReaderNotification
  readonly after: number
  readonly onBatch: OnBatch
  readonly onError: (error: unknown) => void
  readonly onReadFailure?: (error: unknown) => void
}

/**
 * Starts a subscription, which delivers every matching event after `after` once and in order. The
 * store of `readPage` must have no gaps between positions. If a subscription without prefixes finds
 * a gap, events are missing, and the subscription ends with an error.
 *
 * NOTE: `stop` waits for the running `onBatch`, so `onBatch` must not await `stop`.
 */
export function subscribe(options: PagedSubscription): Subscription {
  const { readPage, notification, onBatch, onError, maxBatch = BATCH_DEFAULT } = options
  const streamPrefixes = options.streamPrefixes ?? null
  const isWanted = streamPrefixes === null ? null : streamFilter(streamPrefixes)
  let isStopped = false
  let position = options.after
  const readNext = async (isPoll: boolean): Promise<Page> => {
    try {
      const request = { after: position, limit: maxBatch, isWanted, streamPrefixes }
      return await readPage(request, isPoll)
    } catch (error) {
      options.onReadFailure?.(error)
      return { events: [], position }
    }
  }
  const run = async (): Promise<void> => {
    let isPoll = true
    while (!isStopped && !notification.isClosed()) {
      const seen = notification.count()
      const page = await readNext(isPoll)
      if (isStopped) return
      if (page.position <= position) {
        await notification.waitBeyond(seen, POLL_MS)
        isPoll = notification.count() === seen
      } else {
        if (isWanted === null) checkDense(page, position)
        await onBatch(page.events, page.position)
        position = page.position
      }
    }
  }
  const running = run().catch((error: unknown) => {
    if (!isStopped) onError(error)
  })
  return {
    stop: async () => {
      isStopped = true
      notification.wake()
      await running
    },
  }
}

export const streamFilter =
  (prefixes: readonly string[]): StreamFilter =>
  (stream) =>
    prefixes.some((prefix) => stream.startsWith(prefix))

function checkDense({ events, position }: Page, after: number): void {
  events.forEach((event, index) => {
    if (event.position !== after + index + 1) {
      throw new Error(`event ${after + index + 1} is missing: found ${event.position}`)
    }
  })
  if (position !== after + events.length) {
    throw new Error(`event ${after + events.length + 1} is missing`)
  }
}
