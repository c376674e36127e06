import type { Core } from '#infra/core.ts'
import { statOf } from '../logs/log-stat.ts'
import { onceASecond } from './once-a-second.ts'
import type { LiveSession } from './session.ts'

/** Passes on the site's totals, as long as somebody may see them. Answers how to stop. */
export const feedStats = (
  core: Pick<Core, 'db' | 'now' | 'log'>,
  sessions: () => Iterable<LiveSession>,
): (() => void) =>
  onceASecond(
    async () => {
      const watching = [...sessions()].filter(({ wantsStats }) => wantsStats)
      if (watching.length === 0) return
      const totals = await statOf(core, {})
      for (const session of watching) session.passStats(totals)
    },
    (err) => core.log.warn({ err }, 'the totals of the site could not be read'),
  )
