import { sql } from 'slonik'
import Type from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureSchema } from '#infra/postgres/ensure-schema.ts'
import { createPools, type Pools } from '#infra/postgres/pools.ts'
import { DatabaseUnavailable } from '#infra/postgres/query-timeouts.ts'
import { decimalText, isoTime, quota, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import { testDatabase } from '#test/support/test-database.ts'

let database: Awaited<ReturnType<typeof testDatabase>>
let pools: Pools

beforeAll(async () => {
  database = await testDatabase()
  pools = await createPools(database.url)
})
afterAll(async () => {
  await pools.close()
  await database.drop()
})

describe('pools', () => {
  it('survive when the server closes a connection between two of its statements', async () => {
    const client = await pools.pg.connect()
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() pid')
    const closed = new Promise((resolve) => client.once('end', resolve))
    await pools.pg.query('select pg_terminate_backend($1)', [rows[0]?.pid])
    await closed
    await expect(client.query('select 1')).rejects.toThrow()
    client.release(true)
    expect((await pools.pg.query('select 1 one')).rows).toEqual([{ one: 1 }])
  })

  it('survive when the server closes a connection of Slonik', async () => {
    const pidType = sql.type(rowType({ pid: wireInteger }))
    const isAlive = async (pid: number) =>
      (await pools.pg.query('select from pg_stat_activity where pid = $1', [pid])).rowCount === 1
    const using = pools.db.connect(async (connection) => {
      const { pid } = await connection.one(pidType`select pg_backend_pid()::int8 pid`)
      await pools.pg.query('select pg_terminate_backend($1)', [pid])
      await expect.poll(() => isAlive(pid)).toBe(false)
      return connection.one(pidType`select 1::int8 pid`)
    })
    await expect(using).rejects.toThrow()
    expect(await pools.db.one(pidType`select 1::int8 pid`)).toEqual({ pid: 1 })
  })

  it('lose no digit of an integer, a numeric or a time', async () => {
    const row = await pools.db.one(sql.type(
      rowType({ big: quota, small: wireInteger, exact: decimalText, at: isoTime }),
    )`
      select 9007199254740993::int8 big, 7::int8 small, 12345678901234567890.123456::numeric exact,
        '2026-11-21 06:00:00.123+00'::timestamptz at`)
    expect(row).toEqual({
      big: 9_007_199_254_740_993n,
      small: 7,
      exact: '12345678901234567890.123456',
      at: '2026-11-21T06:00:00.123Z',
    })
  })

  it('refuse a row of a wrong type, and a number that would be rounded', async () => {
    const asText = sql.type(rowType({ n: Type.String() }))`select 1 n`
    await expect(pools.db.one(asText)).rejects.toThrow()
    const rounded = sql.type(rowType({ n: wireInteger }))`select 9007199254740993::int8 n`
    await expect(pools.db.one(rounded)).rejects.toThrow()
  })

  it('commit synchronously, whatever the database’s setting is', async () => {
    const name = new URL(database.url).pathname.slice(1)
    await pools.pg.query(`alter database ${name} set synchronous_commit = off`)
    const others = await createPools(database.url)
    const setting = sql.type(rowType({ on: Type.String() }))`
      select current_setting('synchronous_commit') "on"`
    expect(await others.db.oneFirst(setting)).toBe('on')
    const { rows } = await others.pg.query(`select current_setting('synchronous_commit') s`)
    expect(rows).toEqual([{ s: 'on' }])
    await others.close()
  })

  it('cancel statements that miss the deadline, in both pools, and still work', async () => {
    const hurried = await createPools(database.url, undefined, 200)
    const slow = sql.type(rowType({ n: Type.Number() }))`select 1 n from pg_sleep(30)`
    const one = sql.type(rowType({ n: Type.Number() }))`select 1 n`
    const outcomes = await Promise.allSettled([
      hurried.db.any(slow),
      hurried.db.transaction((connection) => connection.any(slow)),
      hurried.pg.query('select from pg_sleep(30)'),
      hurried.pg.query({ text: 'select from pg_sleep($1)', values: [30] }),
      hurried.pg.query('select from pg_sleep($1)', [30]),
    ])
    const unavailable = { status: 'rejected', reason: expect.any(DatabaseUnavailable) }
    expect(outcomes).toEqual(outcomes.map(() => unavailable))
    expect(await hurried.db.oneFirst(one)).toBe(1)
    expect((await hurried.pg.query('select 1 n')).rows).toEqual([{ n: 1 }])
    await hurried.close()
  })

  it('allow a statement on a single client to take longer', async () => {
    const hurried = await createPools(database.url, undefined, 100)
    const client = await hurried.pg.connect()
    const { rowCount } = await client.query('select from pg_sleep(0.5)')
    client.release()
    expect(rowCount).toBe(1)
    await hurried.close()
  })

  it('survive the loss of all their connections', async () => {
    const one = sql.type(rowType({ n: Type.Number() }))`select 1 n`
    await Promise.all([pools.db.oneFirst(one), pools.pg.query('select 1')])
    const admin = await createPools(database.url)
    await admin.pg.query(`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`)
    await admin.close()
    await expect.poll(() => pools.db.oneFirst(one)).toBe(1)
    await expect.poll(async () => (await pools.pg.query('select 1 n')).rows).toEqual([{ n: 1 }])
  })
})

describe('ensureSchema', () => {
  it('can run fifty times at once', async () => {
    const ddl = 'create table if not exists racers.one (id int primary key)'
    await Promise.all(Array.from({ length: 50 }, () => ensureSchema(pools.pg, 'racers', ddl)))
    const { rows } = await pools.pg.query('select count(*)::int n from racers.one')
    expect(rows).toEqual([{ n: 0 }])
  })
})
