import type { WireFormat } from '../dialects/wire-format.ts'
import type { AttemptEnd } from './attempt-end-types.ts'
import {
  type CallAtProvider,
  CancellableBackgroundResponse,
} from './background-response-left-running.ts'

/**
 * The maximum time, in milliseconds, for a cancellation after the relay has begun to end its calls
 * for a shutdown.
 */
const DRAIN_CANCEL_MS = 1_000
/** The number of running cancellations above which a call waits for its own cancellation. */
const UNAWAITED_MAX = 256

/**
 * Returns the response that the provider may still be generating although the attempt has ended, or
 * null. `streamed` is not null if the request asked for a streamed background response. Some
 * providers send an unfinished response in place of the requested answer: they ignore `stream`, or
 * they work in the background although the request does not ask for this. The attempt then fails
 * with the error `format`, and the response's id is in the body.
 */
export function responseLeftRunning(
  end: AttemptEnd,
  streamed: CancellableBackgroundResponse | null,
  { name }: WireFormat,
): CancellableBackgroundResponse | null {
  if (end.kind === 'plain' || end.error === null || end.error === 'error-event') return null
  if (name !== 'responses' || end.kind !== 'failed' || end.error !== 'format') return streamed
  const response = streamed ?? new CancellableBackgroundResponse()
  response.noteAnswer(end.body)
  return response
}

/**
 * Runs the cancellations of all calls. A cancellation continues after its call has ended. A
 * provider that does not answer therefore neither delays the bill nor keeps the call's permit or
 * request in memory.
 */
export class Cancellations {
  private readonly running = new Set<Promise<void>>()
  private readonly draining = new AbortController()
  private isShuttingDown = false
  private readonly cancelMs: number

  /** `cancelMs` limits each cancellation, including the time to obtain credentials. */
  constructor(cancelMs: number) {
    this.cancelMs = cancelMs
  }

  get size(): number {
    return this.running.size
  }

  /**
   * Begins to cancel a response. If too many cancellations are running, the promise of this
   * cancellation is added to `pendingCancellations`. The call must then wait for this promise
   * before the call ends, so that the limits on calls also limit the cancellations. The promise
   * never rejects.
   */
  begin(
    background: CancellableBackgroundResponse,
    at: CallAtProvider,
    pendingCancellations: Promise<void>[],
  ): void {
    // The call's body, which would stay in memory, is left out.
    const { origin, path, headers } = at.call
    const timeout = AbortSignal.timeout(this.isShuttingDown ? DRAIN_CANCEL_MS : this.cancelMs)
    const signal = this.isShuttingDown ? timeout : AbortSignal.any([timeout, this.draining.signal])
    const isExcess = this.running.size >= UNAWAITED_MAX
    const cancelling = background
      .cancel({ ...at, call: { origin, path, headers } }, signal)
      .finally(() => this.running.delete(cancelling))
    this.running.add(cancelling)
    if (isExcess) pendingCancellations.push(cancelling)
  }

  /**
   * Limits cancellations while the relay shuts down: running ones must end within `DRAIN_CANCEL_MS`
   * from now, and each later one within `DRAIN_CANCEL_MS` from its start. A second call of this
   * method has no effect.
   */
  limitForShutdown(): void {
    if (this.isShuttingDown) return
    this.isShuttingDown = true
    setTimeout(() => this.draining.abort(new Error('draining')), DRAIN_CANCEL_MS).unref()
  }
}
