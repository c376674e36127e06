import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
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
const EVERY_MS = 5_000
const AGAIN_MS = 1_000
/**
 * Writes that are merely slow do not make the process unready until none succeeded for this long.
 */
const SLOW_MS = 12_000
const ANSWER_MS = 2_000

export type WriteProbe = {
  /**
   * Probes, unless a probe is recent; returns the last known state when there is no result within 2
   * s.
   */
  readonly canWrite: () => Promise<boolean>
  /** The state as of the last probe; a probe runs every 5 s. */
  readonly isWritable: () => boolean
  readonly stop: () => void
}

/**
 * Probes whether Postgres can still write, with a commit that needs room on its disk: reads succeed
 * from memory long after the disk is full. The probe is not an event and leaves no trace in the
 * ledger. It runs at most once every 5 s, however often it is requested, and once a second after a
 * failure.
 */
export async function createWriteProbe(pg: Pool): Promise<WriteProbe> {
  await ensureSchema(pg, 'health', TABLES)
  let writtenAt = performance.now()
  let nextAt = Number.NEGATIVE_INFINITY
  let isWritable = true
  let writing: Promise<void> | null = null
  const write = async (): Promise<void> => {
    try {
      await pg.query({ text: WRITE, query_timeout: EVERY_MS } as { text: string })
      writtenAt = performance.now()
      isWritable = true
      nextAt = writtenAt + EVERY_MS
    } catch (error) {
      const isSlow = error instanceof DatabaseUnavailable
      isWritable = isSlow && performance.now() - writtenAt < SLOW_MS
      nextAt = performance.now() + AGAIN_MS
    }
  }
  const canWrite = async (): Promise<boolean> => {
    if (writing === null && performance.now() >= nextAt) {
      writing = write().finally(() => {
        writing = null
      })
    }
    await Promise.race([writing, delay(ANSWER_MS, undefined, { ref: false })])
    return isWritable
  }
  const timer = setInterval(() => void canWrite(), AGAIN_MS).unref()
  return { canWrite, isWritable: () => isWritable, stop: () => clearInterval(timer) }
}
