import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { EventStore } from '../event-store/port.ts'
import { DatabaseUnavailable } from '../postgres/bounded.ts'
import { ensureSchema } from '../postgres/ensure-schema.ts'

/** The table is unlogged: its writes need room on the disk, but none in the WAL or in a backup. */
const TABLES = `
  create unlogged table if not exists health.probe (filling text not null);
  alter table health.probe alter column filling set storage plain;
`
/**
 * Truncates and fills the table in one transaction, so that its 256 KiB are new blocks each time.
 */
const WRITE = `
  truncate health.probe;
  insert into health.probe select repeat('x', 7500) from generate_series(1, 32);
`
const DISK_EVERY_MS = 5_000
/** With a second of the timer and the time of one append, readiness ends within 5 s. */
const STORE_EVERY_MS = 2_000
const AGAIN_MS = 1_000
/**
 * Writes that are merely slow do not make the process unready until none succeeded for this long.
 */
const SLOW_MS = 12_000
const ANSWER_MS = 2_000

export type WriteProbe = {
  /**
   * Probes, unless a probe is recent, and returns what can't be written: `disk` or `event store`.
   * Returns null when everything can, and the last known state when there is no result within 2 s.
   */
  readonly problem: () => Promise<string | null>
  /** The state as of the last probe; a probe runs every few seconds. */
  readonly isWritable: () => boolean
  readonly stop: () => void
}

/**
 * Probes whether Postgres can still write, with a commit that needs room on its disk: reads succeed
 * from memory long after the disk is full. The probe is not an event and leaves no trace in the
 * ledger. It runs at most once every 5 s, however often it is requested, and once a second after a
 * failure.
 */
export async function createDiskProbe(pg: Pool): Promise<WriteProbe> {
  await ensureSchema(pg, 'health', TABLES)
  const text = { text: WRITE, query_timeout: DISK_EVERY_MS } as { text: string }
  return probeOf('disk', () => pg.query(text), DISK_EVERY_MS)
}

/** Probes also whether the event store takes appends, where it is not in Postgres. */
export function withStoreProbe(disk: WriteProbe, store: EventStore): WriteProbe {
  if (store.probeAppend === undefined) return disk
  const appends = probeOf('event store', store.probeAppend, STORE_EVERY_MS)
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
  let nextAt = Number.NEGATIVE_INFINITY
  let isWritable = true
  let writing: Promise<void> | null = null
  const write = async (): Promise<void> => {
    try {
      const askedAt = performance.now()
      await ask()
      writtenAt = performance.now()
      isWritable = true
      nextAt = askedAt + everyMs
    } catch (error) {
      const isSlow = error instanceof DatabaseUnavailable
      isWritable = isSlow && performance.now() - writtenAt < SLOW_MS
      nextAt = performance.now() + AGAIN_MS
    }
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
  const timer = setInterval(() => void problem(), AGAIN_MS).unref()
  return { problem, isWritable: () => isWritable, stop: () => clearInterval(timer) }
}
