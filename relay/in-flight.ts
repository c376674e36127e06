import type { Logger } from 'pino'
import type { Gauges } from '#infra/gauges/gauges.ts'
import type { LiveCall } from './pipeline/live-call.ts'

/** How many calls are with each channel, for the health board. */
export const IN_FLIGHT = 'calls-in-flight'

const LOOK_MS = 1_000
/** Said again though nothing changed, so that this relay counts as alive. */
const REPEAT_MS = 4_000

type Deps = {
  readonly live: ReadonlySet<LiveCall>
  readonly gauges: Gauges
  readonly log: Logger
}

/** Counts once a second what is under way, so that no call has to. Answers how to stop. */
export function reportInFlight({ live, gauges, log }: Deps): () => Promise<void> {
  let said = ''
  let saidAt = performance.now() - REPEAT_MS
  let isSaying = false
  const look = async (): Promise<void> => {
    const counts = countsOf(live)
    const text = JSON.stringify(counts)
    if (isSaying || (text === said && performance.now() - saidAt < REPEAT_MS)) return
    isSaying = true
    try {
      await gauges.report(IN_FLIGHT, counts)
      said = text
      saidAt = performance.now()
    } catch (err) {
      log.debug({ err }, 'calls in flight could not be reported')
    } finally {
      isSaying = false
    }
  }
  void look()
  const timer = setInterval(() => void look(), LOOK_MS)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await gauges.retire(IN_FLIGHT).catch(() => {})
  }
}

function countsOf(live: ReadonlySet<LiveCall>): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { channelUnderWay } of live) {
    if (channelUnderWay === null) continue
    counts[channelUnderWay] = (counts[channelUnderWay] ?? 0) + 1
  }
  return counts
}
