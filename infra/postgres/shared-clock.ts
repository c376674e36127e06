import type { Pool } from 'pg'
import type { Logger } from 'pino'

export type SharedClock = {
  /** Unix milliseconds, whole. */
  readonly now: () => number
  readonly stop: () => void
}

const SAMPLES = 3
const AGAIN_EVERY_MS = 30_000
/** Less than a round trip can hide. */
const STEP_MS_MIN = 20
const STRANGE_MS = 1_000

/**
 * The database's clock, which all processes on it share, carried on by this machine's monotonic
 * one. Leases and expiries that one process writes are judged by others, whose own clocks may
 * differ by minutes, and any of which may be set while the product runs.
 */
export async function createSharedClock(pg: Pool, log: Logger): Promise<SharedClock> {
  let base = await measure(pg)
  const now = (): number => Math.round(base + performance.now())
  const offMs = now() - Date.now()
  if (Math.abs(offMs) > STRANGE_MS) {
    log.warn({ offMs }, "this machine's clock is not the database's, which is gone by")
  }
  const again = async (): Promise<void> => {
    const measured = await measure(pg)
    if (Math.abs(measured - base) > STEP_MS_MIN) base = measured
  }
  // Without an answer, this machine's own pace has to do.
  const timer = setInterval(() => void again().catch(() => {}), AGAIN_EVERY_MS)
  timer.unref()
  return { now, stop: () => clearInterval(timer) }
}

/** Unix milliseconds by the database's clock, with their fraction; as of some point of the call. */
export async function databaseNow(pg: Pool): Promise<number> {
  const { rows } = await pg.query<{ ms: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
  )
  return rows[0]?.ms ?? 0
}

/** What to add to `performance.now()`; of several samples, that of the shortest round trip. */
async function measure(pg: Pool): Promise<number> {
  let best = { tookMs: Number.POSITIVE_INFINITY, base: 0 }
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const before = performance.now()
    const ms = await databaseNow(pg)
    const after = performance.now()
    const base = ms - (before + after) / 2
    if (after - before < best.tookMs) best = { tookMs: after - before, base }
  }
  return best.base
}
