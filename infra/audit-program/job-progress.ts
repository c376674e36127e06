import type { Pool } from 'pg'

export type JobProgress = {
  readonly stage: string
  readonly done: number
  readonly total: number
  /** The estimated number of seconds until the stage ends, or null while there is no estimate. */
  readonly secondsLeft: number | null
}

const WRITE_EVERY_MS = 500

export type ProgressWriter = (stage: string, done: number, total: number) => void

/**
 * Returns a function that stores the progress of a job when its stage changes or is complete, and
 * otherwise at most twice a second.
 */
export function progressWriter(pg: Pool, id: string): ProgressWriter {
  let writtenAt = Number.NEGATIVE_INFINITY
  let current = ''
  return (stage, done, total) => {
    const now = performance.now()
    const isDue = stage !== current || now - writtenAt >= WRITE_EVERY_MS || done >= total
    if (!isDue) return
    writtenAt = now
    current = stage
    const query = `insert into audit_jobs.progress values
        ($1, $2, $3, $4, clock_timestamp(), clock_timestamp())
      on conflict (id) do update set stage = excluded.stage, done = excluded.done,
        total = excluded.total, updated_at = excluded.updated_at,
        begun_at = case when audit_jobs.progress.stage = excluded.stage
          then audit_jobs.progress.begun_at else excluded.begun_at end`
    // A job does not fail because its progress could not be stored.
    pg.query(query, [id, stage, done, total]).catch(() => {})
  }
}

/** Deletes the progress of a job that has ended. */
export async function deleteProgress(pg: Pool, id: string): Promise<void> {
  await pg.query('delete from audit_jobs.progress where id = $1', [id])
}

type Row = { id: string; stage: string; done: string; total: string; seconds: number }

/** Returns the progress of each job in `ids` that has begun, by job id. */
export async function readProgress(
  pg: Pool,
  ids: readonly string[],
): Promise<Map<string, JobProgress>> {
  if (ids.length === 0) return new Map()
  const { rows } = await pg.query<Row>(
    `select id, stage, done, total,
       extract(epoch from updated_at - begun_at)::float8 as seconds
     from audit_jobs.progress where id = any($1)`,
    [ids],
  )
  return new Map(
    rows.map(({ id, stage, done: doneText, total: totalText, seconds }) => {
      const [done, total] = [Number(doneText), Number(totalText)]
      const isEstimable = done > 0 && seconds > 0
      const secondsLeft = isEstimable ? Math.ceil((seconds / done) * (total - done)) : null
      return [id, { stage, done, total, secondsLeft }]
    }),
  )
}
