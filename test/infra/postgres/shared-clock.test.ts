import { Pool } from 'pg'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { createSharedClock } from '#infra/postgres/shared-clock.ts'
import { testDatabase } from '#test/support/test-database.ts'

let pg: Pool
let drop: () => Promise<void>
beforeAll(async () => {
  const database = await testDatabase()
  pg = new Pool({ connectionString: database.url, max: 1 })
  drop = async () => {
    await pg.end()
    await database.drop()
  }
})
afterAll(() => drop())
afterEach(() => vi.restoreAllMocks())

const databaseNow = async (): Promise<number> => {
  const { rows } = await pg.query('select extract(epoch from clock_timestamp()) * 1000 as ms')
  return Number(rows[0].ms)
}

it('the shared clock follows the database, and logs by how much this machine differs', async () => {
  const right = Date.now()
  vi.spyOn(Date, 'now').mockImplementation(() => right - 300_000)
  const lines: string[] = []
  const log = pino({}, { write: (line: string) => void lines.push(line) })
  const clock = await createSharedClock(pg, log)
  const [before, between, after] = [await databaseNow(), clock.now(), await databaseNow()]
  expect(between).toBeGreaterThanOrEqual(Math.floor(before) - 50)
  expect(between).toBeLessThanOrEqual(Math.ceil(after) + 50)
  expect(Number.isInteger(between)).toBe(true)
  expect(JSON.parse(lines[0] ?? '{}').offMs).toBeGreaterThan(290_000)
  clock.stop()
})

it('the shared clock advances while this machine’s clock is set back', async () => {
  const clock = await createSharedClock(pg, pino({ level: 'silent' }))
  const before = clock.now()
  const right = Date.now()
  vi.spyOn(Date, 'now').mockImplementation(() => right - 3_600_000)
  expect(clock.now() - before).toBeGreaterThanOrEqual(0)
  expect(clock.now() - before).toBeLessThan(1_000)
  clock.stop()
})
