import type { Pool } from 'pg'

/**
 * Disables the limits by which Postgres would cancel a statement of `sql`. Limits that a version of
 * Postgres does not have are left out.
 */
const WITHOUT_LIMITS = `select set_config(name, '0', true) from pg_settings
  where name in ('statement_timeout', 'lock_timeout', 'transaction_timeout')`

/**
 * Creates the schema `name` and runs `sql` in one transaction. `sql` must be DDL that can be
 * repeated (`create … if not exists`). Only one process at a time can create a given schema. The
 * operator's time limits for the role or the server don't apply, because a migration that exceeds
 * these limits would fail again at each start.
 */
export async function ensureSchema(pg: Pool, name: string, sql: string): Promise<void> {
  if (!/^[a-z_][a-z0-9_]*$/.test(name)) throw new Error(`"${name}" is not a schema name`)
  const client = await pg.connect()
  let failure: unknown
  try {
    await client.query('begin')
    await client.query(WITHOUT_LIMITS)
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

/**
 * Returns SQL that adds a column, unless the column exists. `alter table … add column if not
 * exists` locks the table exclusively before it looks for the column. Each start would therefore
 * wait for running backups, and would block all other statements meanwhile.
 */
export const addColumn = (table: string, column: string, type: string): string => `
  do $$ begin
    if not exists (select from pg_attribute
      where attrelid = '${table}'::regclass and attname = '${column}' and not attisdropped)
    then
      alter table ${table} add column ${column} ${type};
    end if;
  end $$;`

/**
 * Returns SQL that creates an index in the table's schema unless the schema has an index with this
 * name. `create index if not exists` locks out writers before it looks for the index.
 */
export const createIndex = (name: string, table: string, columns: string): string => `
  do $$ begin
    if to_regclass('${table.split('.')[0]}.${name}') is null then
      create index ${name} on ${table} ${columns};
    end if;
  end $$;`
