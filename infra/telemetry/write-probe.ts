import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { EventStore } from '../event-store/port.ts'
import { ensureSchema } from '../postgres/ensure-schema.ts'
import { DatabaseUnavailable } from '../postgres/query-timeouts.ts'

/**
 * The table of the probe. The table is unlogged, so writes to it need space on the disk, but not in
 * the WAL or a backup.
 */
const TABLES = `
  create unlogged table if not exists health.probe (filling text not null);
  alter table health.probe alter column filling set storage plain;
`
/**
 * Truncates and refills the probe table in one transaction. This allocates 256 KiB of new blocks on
 * the disk.
 */
const WRITE = `
  truncate health.probe;
  insert into health.probe select repeat('x', 7500) from generate_series(1, 32);
`
const DISK_INTERVAL_MS = 5_000
/**
 * The pause in milliseconds between two probes of the event store. A process must become unready
 * within 5 s after a failure. This pause, the timer's interval (1 s) and a failing append (1.5 s)
 * together take 4.5 s.
 */
const STORE_INTERVAL_MS = 2_000
const CHECK_INTERVAL_MS = 1_000
/** The interval of probes in milliseconds while nobody asks for their result. */
const IDLE_INTERVAL_MS = 60_000
/** The time in milliseconds for which the probes stay frequent after their result was asked for. */
const FREQUENT_PROBES_MS = 10_000
/**
 * The time in milliseconds without a successful write after which slow writes make the process
 * unready.
 */
const SLOW_MS = 12_000
const ANSWER_MS = 2_000

export type WriteProbe = {
  /**
   * Returns `disk` or `event store` if writing to it fails, or null if writing works. Starts a
   * probe if the last result is too old. If the probe takes longer than 2 s, the previous result is
   * returned.
   */
  readonly problem: () => Promise<string | null>
  /**
   * Reports whether writing worked in the last probe. A probe that was only too slow counts as a
   * failure after `SLOW_MS` without a successful write. A probe runs every few seconds while this
   * function is called, and otherwise once a minute.
   */
  readonly isWritable: () => boolean
  readonly stop: () => void
}

/**
 * Creates a probe that reports whether the disk has space. The probe's transaction allocates space,
 * because reads succeed from memory long after the disk is full. The probe runs at most once every
 * 5 s, and once a second after a failure. While nobody asks for its result, the probe runs once a
 * minute.
 */
export async function createDiskProbe(pg: Pool): Promise<WriteProbe> {
  await ensureSchema(pg, 'health', TABLES)
  const text = { text: WRITE, query_timeout: DISK_INTERVAL_MS } as { text: string }
  return probeOf('disk', () => pg.query(text), DISK_INTERVAL_MS)
}

/**
 * Returns a probe of the disk and of the event store's appends. If the events are in Postgres,
 * returns the probe of the disk alone.
 */
export function withStoreProbe(disk: WriteProbe, store: EventStore): WriteProbe {
  if (store.probeAppend === undefined) return disk
  const appends = probeOf('event store', store.probeAppend, STORE_INTERVAL_MS)
  return {
    problem: async () => {
      const [first, second] = await Promise.all([disk.problem(), appends.problem()])
      return first ?? second
    },
    isWritable: () => disk.isWritable() && appends.isWritable(),
    stop: () => {
      disk.stop()
      appends.stop()
    },
  }
}

function probeOf(name: string, ask: () => Promise<unknown>, everyMs: number): WriteProbe {
  let writtenAt = performance.now()
  let probedAt = writtenAt
  let nextAt = Number.NEGATIVE_INFINITY
  let isWritable = true
  let askedAt = performance.now()
  let writing: Promise<void> | null = null
  const write = async (): Promise<void> => {
    const startedAt = performance.now()
    // After a long time without probes, the age of the last successful write does not show that
    // writes are slow.
    const hasPaused = startedAt - probedAt > 2 * everyMs + CHECK_INTERVAL_MS
    if (hasPaused && isWritable) writtenAt = startedAt
    try {
      await ask()
      writtenAt = performance.now()
      isWritable = true
      nextAt = startedAt + everyMs
    } catch (error) {
      const isSlow = error instanceof DatabaseUnavailable
      isWritable = isSlow && performance.now() - writtenAt < SLOW_MS
      nextAt = performance.now() + CHECK_INTERVAL_MS
    }
    probedAt = performance.now()
    // The timer has chosen its next pause before this result was known. Calls are refused until a
    // probe succeeds, so the next probe must not wait for the end of a minute.
    if (!isWritable) timer.beFrequent()
  }
  const problem = async (): Promise<string | null> => {
    if (writing === null && performance.now() >= nextAt) {
      writing = write().finally(() => {
        writing = null
      })
    }
    await Promise.race([writing, delay(ANSWER_MS, undefined, { ref: false })])
    return isWritable ? null : name
  }
  const timer = adaptiveTimer(() => {
    const isUsed = !isWritable || performance.now() - askedAt < FREQUENT_PROBES_MS
    if (isUsed || performance.now() - writtenAt >= IDLE_INTERVAL_MS - CHECK_INTERVAL_MS)
      void problem()
    return isUsed
  })
  const noteUse = (): void => {
    askedAt = performance.now()
    timer.beFrequent()
  }
  return {
    problem: () => {
      noteUse()
      return problem()
    },
    isWritable: () => {
      noteUse()
      return isWritable
    },
    stop: timer.stop,
  }
}

/**
 * Runs `check` every second while `check` returns true, and after a call of `beFrequent`. At other
 * times, runs `check` once a minute, so that an idle process rarely wakes up.
 */
function adaptiveTimer(check: () => boolean) {
  let timer: NodeJS.Timeout | undefined
  let isFrequent = false
  let isStopped = false
  const schedule = (): void => {
    clearTimeout(timer)
    if (isStopped) return
    const waitMs = isFrequent ? CHECK_INTERVAL_MS : IDLE_INTERVAL_MS
    timer = setTimeout(() => {
      isFrequent = check()
      schedule()
    }, waitMs).unref()
  }
  const beFrequent = (): void => {
    if (isFrequent) return
    isFrequent = true
    schedule()
  }
  beFrequent()
  const stop = (): void => {
    isStopped = true
    clearTimeout(timer)
  }
  return { beFrequent, stop }
}
