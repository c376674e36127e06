import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pino } from 'pino'
import { startEmbeddedPostgres } from '#infra/postgres/embedded.ts'

const COMPILED = resolve(import.meta.dirname, '../../node_modules/.cache/compiled')

/** One Postgres for the whole run; each test takes a database of its own from it. */
export async function setup(): Promise<() => Promise<void>> {
  // Hundreds of processes load the same modules: what one has compiled, all have.
  process.env.NODE_COMPILE_CACHE ??= COMPILED
  const dataDir = mkdtempSync(join(tmpdir(), 'tallygate-test-'))
  const log = pino({ level: 'silent' })
  const postgres = await startEmbeddedPostgres({ dataDir, log })
  process.env.TEST_POSTGRES_URL = postgres.connectionString
  return async () => {
    await postgres.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
