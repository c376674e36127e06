import type { Pool, PoolClient } from 'pg'

/**
 * One hash for all rows of a read model's tables, whatever order they lie in: SHA-256 of each row,
 * sorted, hashed by bucket and then together.
 */
export async function canonicalHash(
  client: Pool | PoolClient,
  schema: string,
  tables: readonly string[],
): Promise<string> {
  const hashes: string[] = []
  for (const table of [...tables].sort()) {
    const { rows } = await client.query<{ hash: string | null; count: string }>(`
      select ${sha("string_agg(b.hash, '' order by b.bucket)")} as hash,
             coalesce(sum(b.count), 0) as count
      from (
        select left(r.hash, 3) as bucket, ${sha("string_agg(r.hash, '' order by r.hash)")} as hash,
               count(*) as count
        from (select ${sha('t::text')} as hash from ${schema}.${table} t) r
        group by 1
      ) b`)
    const [row] = rows
    hashes.push(`${table}:${row?.count}:${row?.hash ?? ''}`)
  }
  return hashes.join(' ')
}

const sha = (text: string): string => `encode(sha256(convert_to(${text}, 'UTF8')), 'hex')`
