import type { Pool } from 'pg'
import type { ErasureProgress } from './port.ts'

/**
 * An erasure that has begun and not ended. `ageMs` is the time in milliseconds since the erasure
 * last began.
 */
export type UnfinishedErasure = { readonly userId: number; readonly ageMs: number }

/**
 * Records that the erasure of a user begins. The record is made before the event of the erasure, so
 * that another process can finish the erasure whenever this process dies.
 */
export async function beginErasure(pg: Pool, userId: number): Promise<void> {
  await pg.query(
    `insert into vault.unfinished_erasures (user_id) values ($1)
     on conflict (user_id) do update set begun_at = clock_timestamp()`,
    [userId],
  )
}

/** Removes the record of an erasure that was refused before anything was erased. */
export async function forgetErasure(pg: Pool, userId: number): Promise<void> {
  await pg.query('delete from vault.unfinished_erasures where user_id = $1', [userId])
}

/**
 * Records that the tables contain no data of the user any more. Also records again that the files
 * may contain old rows, because rows were deleted and changed after the data key was destroyed.
 */
export async function endErasure(pg: Pool, userId: number): Promise<void> {
  await pg.query(
    `with ended as (delete from vault.unfinished_erasures where user_id = $1 returning user_id)
     insert into vault.erased_rows (user_id) select user_id from ended`,
    [userId],
  )
}

/** Returns the erasures that have begun and not ended, the oldest first. */
export async function unfinishedErasures(pg: Pool): Promise<readonly UnfinishedErasure[]> {
  const { rows } = await pg.query<{ user_id: string; age_ms: string }>(
    `select user_id, extract(epoch from clock_timestamp() - begun_at) * 1000 as age_ms
     from vault.unfinished_erasures order by begun_at`,
  )
  return rows.map((row) => ({ userId: Number(row.user_id), ageMs: Number(row.age_ms) }))
}

/** Counts the unfinished erasures and the destroyed data keys. */
export async function erasureProgress(pg: Pool): Promise<ErasureProgress> {
  const { rows } = await pg.query<{ unfinished: string; destroyed: string }>(
    `select (select count(*) from vault.unfinished_erasures) as unfinished,
            (select count(*) from vault.user_keys where wrapped_key = '') as destroyed`,
  )
  return { unfinished: Number(rows[0]?.unfinished), destroyedKeys: Number(rows[0]?.destroyed) }
}
