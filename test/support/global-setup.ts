import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pino } from 'pino'
import { startEmbeddedPostgres } from '#infra/postgres/embedded-postgres.ts'
import { isBundleBuilt } from '#infra/server-bundle/bundle-manifest.ts'
import { createRunFolder } from './run-folder.ts'

const COMPILED = resolve(import.meta.dirname, '../../node_modules/.cache/compiled')

/** Starts one Postgres for the test run. Each test creates a separate database. */
export async function setup(): Promise<() => Promise<void>> {
  // Hundreds of processes load the same modules, so they share a cache of compiled code.
  process.env.NODE_COMPILE_CACHE ??= COMPILED
  // Otherwise, each of the first products that tests start would build the bundle.
  if (!isBundleBuilt()) {
    const { buildServerBundle } = await import('#infra/server-bundle/build-server-bundle.ts')
    await buildServerBundle()
  }
  const folder = createRunFolder()
  process.env.TMPDIR = folder
  const log = pino({ level: 'silent' })
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), log })
  process.env.TEST_POSTGRES_URL = postgres.connectionString
  return async () => {
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
