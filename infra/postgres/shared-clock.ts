import type { Pool } from 'pg'
import type { Logger } from 'pino'

export type SharedClock = {
  readonly now: () => number
  readonly stop: () => void
}

const SAMPLES = 3
const MEASURE_EVERY_MS = 30_000
/**
 * The minimum difference in milliseconds to correct. Smaller differences may come from the round
 * trip to the database.
 */
const STEP_MS_MIN = 20
const LOGGED_STEP_MS_MIN = 1_000

/**
 * Creates a clock that follows the clock of the database. The clocks of several machines may differ
 * by minutes, but processes must agree on expiry times. Between measurements, the clock advances
 * with this machine's monotonic clock.
 */
export async function createSharedClock(pg: Pool, log: Logger): Promise<SharedClock> {
  let base = await measure(pg)
  const now = (): number => Math.round(base + performance.now())
  const offMs = now() - Date.now()
  if (Math.abs(offMs) > LOGGED_STEP_MS_MIN) {
    log.warn({ offMs }, "this machine's clock differs from the database's, which is used")
  }
  const again = async (): Promise<void> => {
    const measured = await measure(pg)
    if (Math.abs(measured - base) > STEP_MS_MIN) base = measured
  }
  // If the database does not answer, the clock continues with this machine's monotonic clock.
  const timer = setInterval(() => void again().catch(() => {}), MEASURE_EVERY_MS)
  timer.unref()
  return { now, stop: () => clearInterval(timer) }
}

/**
 * Returns the time of the database at some moment during the call, in Unix milliseconds with
 * fractions.
 */
export async function databaseNow(pg: Pool): Promise<number> {
  const { rows } = await pg.query<{ ms: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
  )
  return rows[0]?.ms ?? 0
}

/**
 * Returns the difference between the clock of the database and `performance.now()` in milliseconds.
 * The function measures several times and uses the measurement with the shortest round trip.
 */
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
