import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'pg'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { startEmbeddedPostgres } from '#infra/postgres/embedded-postgres.ts'
import { problemsOf, rejectUnsafeServer } from '#infra/postgres/server-checks.ts'
import { testDatabase } from '#test/support/test-database.ts'

/** A stopping server may still send an error to a closing connection. */
function poolFor(connectionString: string): Pool {
  const pg = new Pool({ connectionString })
  pg.on('error', () => {})
  return pg
}

const safe = {
  version: 150_004,
  version_text: '15.4',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  is_replica: false,
  is_read_only: false,
  encoding: 'UTF8',
}

it.each([
  ['version', { version: 140_011, version_text: '14.11' }],
  ['fsync', { fsync: 'off' }],
  ['full_page_writes', { full_page_writes: 'off' }],
  ['synchronous_commit', { synchronous_commit: 'off' }],
  ['replica', { is_replica: true }],
  ['read_only', { is_read_only: true }],
  ['encoding', { encoding: 'SQL_ASCII' }],
])('a server with a bad %s is refused, and the error names it', (word, bad) => {
  expect(problemsOf(safe)).toEqual([])
  expect(problemsOf({ ...safe, ...bad })).toEqual([expect.stringContaining(word)])
})

it('a real server that keeps committed data is accepted', async () => {
  const database = await testDatabase()
  const pg = poolFor(database.url)
  await expect(rejectUnsafeServer(pg)).resolves.toBeUndefined()
  await pg.end()
  await database.drop()
})

it('a real server without fsync is refused', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tallygate-unsafe-'))
  const log = pino({ level: 'silent' })
  const server = await startEmbeddedPostgres({ dataDir, log, durable: false })
  const pg = poolFor(server.connectionString)
  await expect(rejectUnsafeServer(pg)).rejects.toThrow('fsync is off')
  await pg.end()
  await server.stop()
  rmSync(dataDir, { recursive: true, force: true })
})
