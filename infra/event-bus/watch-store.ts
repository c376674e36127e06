import type { Logger } from 'pino'
import type { EventStore, Subscription } from '../event-store/port.ts'

/** No stream is called so: the store tells how far it is, and decodes no event for it. */
const NO_STREAM = ['\u0001']
const RETRY_MS = 250

/** Tells the positions of whatever is committed from now on. */
export function watchStore(
  { store, log }: { readonly store: EventStore; readonly log: Logger },
  onNews: (position: number) => void,
): { readonly stop: () => Promise<void> } {
  let isStopped = false
  let position: number | null = null
  let subscription: Subscription | null = null
  let retry: NodeJS.Timeout | undefined
  const tryAgain = (err: unknown): void => {
    if (isStopped) return
    log.warn({ err }, 'the watch for new events broke and starts again')
    retry = setTimeout(start, RETRY_MS)
  }
  const subscribe = async (): Promise<void> => {
    position ??= await store.headPosition()
    if (isStopped) return
    subscription = store.subscribeAll(
      position,
      (_events, reached) => {
        position = reached
        onNews(reached)
      },
      tryAgain,
      { streamPrefixes: NO_STREAM },
    )
  }
  let starting = Promise.resolve()
  const start = (): void => {
    starting = subscribe().catch(tryAgain)
  }
  start()
  return {
    stop: async () => {
      isStopped = true
      clearTimeout(retry)
      await starting
      await subscription?.stop()
    },
  }
}
