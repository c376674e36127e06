import type { Logger } from 'pino'
import type { HealthBoard } from '../channels/health/health-board.ts'
import { onceASecond } from './once-a-second.ts'
import type { LiveSession } from './session.ts'

/** Passes on how the channels do, as long as somebody may see it. Answers how to stop. */
export const feedHealth = (
  board: HealthBoard,
  log: Logger,
  sessions: () => Iterable<LiveSession>,
): (() => void) =>
  onceASecond(
    async () => {
      const watching = [...sessions()].filter(({ wantsHealth }) => wantsHealth)
      if (watching.length === 0) return
      await board.refresh()
      for (const session of watching) session.passHealth()
    },
    (err) => log.warn({ err }, 'the health of the channels could not be read'),
  )
