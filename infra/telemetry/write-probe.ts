import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { DatabaseUnavailable } from '../postgres/bounded.ts'
import { ensureSchema } from '../postgres/ensure-schema.ts'

/** Unlogged: what is written takes room on the disk, and none in the log or in a backup. */
const TABLES = `
  create unlogged table if not exists health.probe (filling text not null);
  alter table health.probe alter column filling set storage plain;
`
/** Emptied and filled in one transaction: its 256 KiB are new blocks each time. */
const WRITE = `
  truncate health.probe;
  insert into health.probe select repeat('x', 7500) from generate_series(1, 32);
`
const EVERY_MS = 5_000
const AGAIN_MS = 1_000
/** A write that is merely slow makes nothing unready until there was none for so long. */
const SLOW_MS = 12_000
const ANSWER_MS = 2_000

export type WriteProbe = {
  /** Asks, unless that was just done; the last that is known where there is no answer in 2 s. */
  readonly canWrite: () => Promise<boolean>
  /** As of the last answer; it is asked every 5 s. */
  readonly isWritable: () => boolean
  readonly stop: () => void
}

/**
 * Asks whether Postgres can still write, by a commit that needs room on its disk: reads are
 * answered from memory long after the disk is full. It is no event and leaves nothing in the books.
 * Written at most once in 5 s, however often it is asked; after a failure, once a second.
 */
export async function createWriteProbe(pg: Pool): Promise<WriteProbe> {
  await ensureSchema(pg, 'health', TABLES)
  let writtenAt = performance.now()
  let nextAt = Number.NEGATIVE_INFINITY
  let isWritable = true
  let asking: Promise<void> | null = null
  const ask = async (): Promise<void> => {
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
    if (asking === null && performance.now() >= nextAt) {
      asking = ask().finally(() => {
        asking = null
      })
    }
    await Promise.race([asking, delay(ANSWER_MS, undefined, { ref: false })])
    return isWritable
  }
  const timer = setInterval(() => void canWrite(), AGAIN_MS).unref()
  return { canWrite, isWritable: () => isWritable, stop: () => clearInterval(timer) }
}
