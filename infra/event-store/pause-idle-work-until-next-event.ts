import { setTimeout as delay } from 'node:timers/promises'
import type { EventStore } from './port.ts'

type Pause = {
  /**
   * The last known position of the store, read before the work that found nothing to do. With null,
   * the pause is `everyMs`.
   */
  readonly seen: number | null
  /** The shortest pause in milliseconds. */
  readonly everyMs: number
  /** The longest pause in milliseconds, for work that becomes due without an event. */
  readonly idleMs: number
  readonly signal: AbortSignal
}

/**
 * Pauses work that looks for something to do in the events, so that an idle process does not wake
 * up for this work. The pause lasts `everyMs`, and then until an event after `seen` is committed,
 * but no longer than `idleMs` in total. If the store can't tell its last position without a query,
 * the pause is `everyMs`.
 */
export async function pauseUntilCommit(
  { commits }: Pick<EventStore, 'commits'>,
  { seen, everyMs, idleMs, signal }: Pause,
): Promise<void> {
  await delay(everyMs, undefined, { signal, ref: false }).catch(() => {})
  if (commits === undefined || seen === null || signal.aborted) return
  await commits.waitBeyond(seen, idleMs - everyMs, signal)
}
