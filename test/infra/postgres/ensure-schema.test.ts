import { Pool } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addColumn, createIndex, ensureSchema } from '#infra/postgres/ensure-schema.ts'
import { testDatabase } from '#test/support/test-database.ts'

let database: Awaited<ReturnType<typeof testDatabase>>
/** A pool whose statements have the limits that an operator has set for the role or the server. */
let limited: Pool

beforeAll(async () => {
  database = await testDatabase()
  const options = '-c statement_timeout=200 -c lock_timeout=200'
  limited = new Pool({ connectionString: database.url, max: 4, options })
})

afterAll(async () => {
  await limited.end()
  await database.drop()
})

it('a migration may exceed the operator’s limits, which apply again after it', async () => {
  await ensureSchema(limited, 'slow', 'select pg_sleep(0.6); create table slow.t ()')
  expect((await limited.query('select from slow.t')).rowCount).toBe(0)
  await expect(limited.query('select pg_sleep(0.6)')).rejects.toThrow('statement timeout')
})

it('a migration waits for its lock for longer than the operator’s limit', async () => {
  await ensureSchema(limited, 'locked', 'create table locked.t (n int)')
  const client = await limited.connect()
  await client.query('begin; lock table locked.t in share mode')
  const done = ensureSchema(limited, 'locked', 'alter table locked.t add column m int')
  const waits = async () =>
    (
      await limited.query(
        `select from pg_stat_activity where wait_event_type = 'Lock'
           and datname = current_database() and clock_timestamp() - state_change > '400 ms'`,
      )
    ).rowCount
  await expect.poll(waits).toBe(1)
  await client.query('rollback')
  client.release()
  await done
  expect((await limited.query('select m from locked.t')).rowCount).toBe(0)
})

it('a column and an index are added once, and a later start takes no lock for them', async () => {
  const sql = `create table if not exists added.t (n int);
    ${addColumn('added.t', 'm', `text not null default 'x'`)}
    ${createIndex('rows_by_m', 'added.t', '(m) where n is null')}`
  await ensureSchema(limited, 'added', sql)
  await limited.query('insert into added.t (n) values (1)')
  expect((await limited.query('select m from added.t')).rows).toEqual([{ m: 'x' }])
  const client = await limited.connect()
  await client.query('begin; lock table added.t in access exclusive mode')
  let isDone = false
  const ensuring = ensureSchema(limited, 'added', sql).then(() => {
    isDone = true
  })
  await expect.poll(() => isDone).toBe(true)
  await ensuring
  await client.query('rollback')
  client.release()
  const index = `select from pg_indexes where schemaname = 'added' and indexname = 'rows_by_m'`
  expect((await limited.query(index)).rowCount).toBe(1)
})
