import type { Pool } from 'pg'

/** Returns all tables of the database that contain one of the texts in any column. */
export async function tablesWith(pg: Pool, texts: readonly string[]): Promise<string[]> {
  const { rows } = await pg.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and n.nspname not like 'pg\\_%' and n.nspname <> 'information_schema'`,
  )
  const found: string[] = []
  for (const { name } of rows) {
    const like = texts.map((text) => `%${text}%`)
    // Bytes are also searched as text. The escape format keeps readable characters.
    const { rowCount } = await pg.query(
      `select from ${name} t, lateral jsonb_each_text(to_jsonb(t)) cell
       where cell.value ilike any($1) or (cell.value like '\\\\x%'
         and encode(decode(substr(cell.value, 3), 'hex'), 'escape') ilike any($1)) limit 1`,
      [like],
    )
    if ((rowCount ?? 0) > 0) found.push(name)
  }
  return found
}

/** Returns the files of a tar archive, read without any code of the product. */
export function filesOfTar(archive: Buffer): { name: string; bytes: Buffer }[] {
  const files: { name: string; bytes: Buffer }[] = []
  for (let at = 0; at + 512 <= archive.length && archive[at] !== 0; ) {
    const field = (from: number, to: number) =>
      archive.toString('latin1', at + from, at + to).replace(/\0.*$/s, '')
    const size = Number.parseInt(field(124, 136), 8)
    files.push({ name: field(0, 100), bytes: archive.subarray(at + 512, at + 512 + size) })
    at += 512 + Math.ceil(size / 512) * 512
  }
  return files
}
