import type { Recorded } from '#domain/shared/event.ts'
import type { OnBatch, SubscribeOptions, Subscription } from './port.ts'
import type { WakeUp } from './wake-up.ts'

const BATCH_DEFAULT = 500
/** Only a fallback: whoever appends wakes the readers. */
const POLL_MS = 1_000

/** `position`: beyond `events`, there is nothing that was asked for up to it. */
export type Page = { readonly events: readonly Recorded[]; readonly position: number }

export type PageRequest = {
  readonly after: number
  readonly limit: number
  /** null: all events. */
  readonly isWanted: IsWanted | null
  readonly streamPrefixes: readonly string[] | null
}

export type IsWanted = (stream: string) => boolean

export type Wanted = SubscribeOptions & {
  /**
   * Rejecting means "not now": it is tried again. `isPoll`: nobody said that there is anything, so
   * look where it can't be missed.
   */
  readonly readPage: (request: PageRequest, isPoll: boolean) => Promise<Page>
  readonly wakeUp: WakeUp
  readonly after: number
  readonly onBatch: OnBatch
  readonly onError: (error: unknown) => void
  readonly onReadFailure?: (error: unknown) => void
}

/**
 * Hands on every event after `after` that is asked for, once and in order, until stopped. Positions
 * are dense, so where all events are asked for, a batch that does not begin right behind the one
 * before proves a fault of the store: it ends the subscription instead of skipping silently.
 *
 * NOTE: `stop` waits for the running `onBatch`; awaiting it inside of `onBatch` never ends.
 */
export function subscribe(wanted: Wanted): Subscription {
  const { readPage, wakeUp, onBatch, onError, maxBatch = BATCH_DEFAULT } = wanted
  const streamPrefixes = wanted.streamPrefixes ?? null
  const isWanted = streamPrefixes === null ? null : streamFilter(streamPrefixes)
  let isStopped = false
  let position = wanted.after
  const readNext = async (isPoll: boolean): Promise<Page> => {
    try {
      const request = { after: position, limit: maxBatch, isWanted, streamPrefixes }
      return await readPage(request, isPoll)
    } catch (error) {
      wanted.onReadFailure?.(error)
      return { events: [], position }
    }
  }
  const run = async (): Promise<void> => {
    let isPoll = true
    while (!isStopped && !wakeUp.isClosed()) {
      const seen = wakeUp.count()
      const page = await readNext(isPoll)
      if (isStopped) return
      if (page.position <= position) {
        await wakeUp.waitBeyond(seen, POLL_MS)
        isPoll = wakeUp.count() === seen
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
      wakeUp.wake()
      await running
    },
  }
}

export const streamFilter =
  (prefixes: readonly string[]): IsWanted =>
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
