import type { Pool } from 'pg'

/**
 * Creates the schema `name` and runs `sql` in one transaction. `sql` must be DDL that can be
 * repeated (`create … if not exists`). Only one process at a time can create a given schema.
 */
export async function ensureSchema(pg: Pool, name: string, sql: string): Promise<void> {
  if (!/^[a-z_][a-z0-9_]*$/.test(name)) throw new Error(`"${name}" is not a schema name`)
  const client = await pg.connect()
  let failure: unknown
  try {
    await client.query('begin')
    await client.query(`select pg_advisory_xact_lock(hashtextextended($1, 0))`, [`schema:${name}`])
    await client.query(`create schema if not exists ${name}`)
    await client.query(sql)
    await client.query('commit')
  } catch (error) {
    failure = error
    await client.query('rollback').catch(() => {})
    throw error
  } finally {
    client.release(failure !== undefined)
  }
}
