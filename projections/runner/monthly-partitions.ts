import type { PoolClient } from 'pg'
import type { RowChange } from './row-changes.ts'

/** Creates missing monthly partitions for the rows, in the caller's transaction. */
export async function ensureMonthsOf(
  client: PoolClient,
  table: string,
  rows: readonly RowChange[],
  column: string,
): Promise<void> {
  const months = new Map(
    rows.map((row) => {
      const month = monthOf(Number(row.key[column] ?? row.set[column]))
      return [month.name, month]
    }),
  )
  for (const month of months.values()) {
    const part = `${table}_${month.name}`
    const { rows: found } = await client.query({
      name: 'projection-month-exists',
      text: 'select to_regclass($1) is not null as there',
      values: [part],
    })
    if (found[0]?.there !== true) await createMonth(client, table, part, month)
  }
}

/**
 * Creates the partition of a month. The lock keeps two processes from creating a partition at once.
 * NOTE: `if not exists` alone fails if another process commits between the check and the creation.
 */
async function createMonth(
  client: PoolClient,
  table: string,
  part: string,
  { start, end }: { readonly start: number; readonly end: number },
): Promise<void> {
  await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`month:${part}`])
  await client.query(
    `create table if not exists ${part} partition of ${table}
     for values from (${start}) to (${end})`,
  )
}

export function monthOf(seconds: number): { name: string; start: number; end: number } {
  const date = new Date(seconds * 1_000)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  const name = `${year}_${String(month + 1).padStart(2, '0')}`
  return { name, start: Date.UTC(year, month) / 1_000, end: Date.UTC(year, month + 1) / 1_000 }
}
