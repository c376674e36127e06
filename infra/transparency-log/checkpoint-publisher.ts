import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { warnThrottled } from '../telemetry/log.ts'
import type { PublicationState } from './publish-checkpoints.ts'

/**
 * The longest pause in milliseconds before publishing is tried again, for checkpoints that are not
 * published or not signed by enough witnesses.
 */
const PUBLISH_AGAIN_MS_MAX = 60_000

/**
 * Publishes signed checkpoints independently of sealing, so that a slow destination does not delay
 * sealing. One publication runs at a time. It runs at the start and after each `request`, and is
 * repeated after growing pauses until everything is published. The repetition is needed because an
 * idle site seals no further checkpoint.
 */
export class Publisher {
  private isRequested = false
  private wake: () => void = () => {}
  private readonly everyMs: number
  private readonly log: Logger

  constructor(everyMs: number, log: Logger) {
    this.everyMs = everyMs
    this.log = log
  }

  /** Makes the next publication begin at once. Called when there is a new checkpoint. */
  request(): void {
    this.isRequested = true
    this.wake()
  }

  /** Publishes until `lost` is aborted. `publish` must end soon after the abort. */
  async run(publish: () => Promise<PublicationState>, lost: AbortSignal): Promise<void> {
    let pauseMs = this.everyMs
    while (!lost.aborted) {
      this.isRequested = false
      const state = await publish().catch((err: unknown) => {
        warnThrottled(this.log, { err }, 'checkpoints of the transparency log were not published')
        return 'waiting' as const
      })
      if (state !== 'continuing') {
        await this.pause(state === 'complete' ? PUBLISH_AGAIN_MS_MAX : pauseMs, lost)
      }
      const isFresh = this.isRequested || state !== 'waiting'
      pauseMs = isFresh ? this.everyMs : Math.min(pauseMs * 2, PUBLISH_AGAIN_MS_MAX)
    }
  }

  private async pause(ms: number, lost: AbortSignal): Promise<void> {
    if (this.isRequested || lost.aborted) return
    const waiting = new AbortController()
    const end = () => waiting.abort()
    this.wake = end
    lost.addEventListener('abort', end)
    await delay(ms, undefined, { signal: waiting.signal, ref: false }).catch(() => {})
    lost.removeEventListener('abort', end)
    this.wake = () => {}
  }
}
