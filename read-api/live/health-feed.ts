import type { Logger } from 'pino'
import type { HealthBoard } from '../channels/health/health-board.ts'
import type { LiveSession } from './session.ts'

const EVERY_MS = 1_000
/** Reading takes no more than a tenth of the time. */
const REST = 10

/**
 * Passes on how the channels do, about once a second, as long as somebody may see it. Answers how
 * to stop.
 */
export function feedHealth(
  board: HealthBoard,
  log: Logger,
  sessions: () => Iterable<LiveSession>,
): () => void {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const later = (waitMs: number): void => {
    if (!isStopped) timer = setTimeout(() => void pass(), waitMs).unref()
  }
  const pass = async (): Promise<void> => {
    const startedAt = performance.now()
    try {
      const watching = [...sessions()].filter(({ wantsHealth }) => wantsHealth)
      if (watching.length > 0) {
        await board.refresh()
        for (const session of watching) session.passHealth()
      }
    } catch (err) {
      log.warn({ err }, 'the health of the channels could not be read')
    }
    later(Math.max(EVERY_MS, (performance.now() - startedAt) * REST))
  }
  later(EVERY_MS)
  return () => {
    isStopped = true
    clearTimeout(timer)
  }
}
