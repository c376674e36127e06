import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startEmbeddedPostgres } from '#infra/postgres/embedded-postgres.ts'
import { createPools } from '#infra/postgres/pools.ts'
import { createDiskProbe } from '#infra/telemetry/write-probe.ts'
import { mountSmallDisk } from '#test/support/small-disk.ts'
import { testDatabase } from '#test/support/test-database.ts'

const disk = mountSmallDisk(260)
const reason = disk === null ? ' (skipped: no tmpfs can be mounted here)' : ''

describe.skipIf(disk === null)(`the disk probe on a full disk${reason}`, () => {
  let embedded: Awaited<ReturnType<typeof startEmbeddedPostgres>>
  let pools: Awaited<ReturnType<typeof createPools>>
  beforeAll(async () => {
    embedded = await startEmbeddedPostgres({
      dataDir: disk?.path ?? '',
      log: pino({ level: 'silent' }),
    })
    pools = await createPools(embedded.connectionString)
  })
  afterAll(async () => {
    await pools.close()
    await embedded.stop()
    disk?.remove()
  })

  it('fails within 5 s although reads succeed, and recovers when there is space', async () => {
    const { problem, stop } = await createDiskProbe(pools.pg)
    expect(await problem()).toBe(null)
    disk?.fill()
    const since = performance.now()
    await expect.poll(problem, { timeout: 8_000 }).toBe('disk')
    expect(performance.now() - since).toBeLessThan(6_000)
    expect((await pools.pg.query('select 1 n')).rows).toEqual([{ n: 1 }])
    disk?.free()
    await expect.poll(problem, { timeout: 8_000 }).toBe(null)
    stop()
  })
})

it('the disk probe writes at most once in 5 s, however many callers use it', async () => {
  const database = await testDatabase()
  const pg = new Pool({ connectionString: database.url, max: 4 })
  let writes = 0
  const query = pg.query.bind(pg) as (...given: unknown[]) => Promise<unknown>
  pg.query = ((...given: unknown[]) => {
    writes += 1
    return query(...given)
  }) as never
  const { problem, stop } = await createDiskProbe(pg)
  writes = 0
  for (let n = 0; n < 20; n += 1) {
    expect(await Promise.all([problem(), problem()])).toEqual([null, null])
    await delay(20)
  }
  expect(writes).toBe(1)
  stop()
  await pg.end()
  await database.drop()
})
