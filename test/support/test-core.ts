import { randomBytes } from 'node:crypto'
import type { Config } from '#infra/config/config-types.ts'
import { readConfig } from '#infra/config/read-config.ts'
import { type RunningCore, startCore } from '#infra/start-core.ts'
import { siteDatabase } from './site-database.ts'

/**
 * A configuration with a new database, a free port and no log output. The database has all tables
 * of the product, because creating them takes a third of a second of CPU time.
 */
export async function testConfig(
  overrides: Partial<Config> = {},
): Promise<{ config: Config; drop(): Promise<void> }> {
  const database = await siteDatabase()
  const config = readConfig({
    DATABASE_URL: database.url,
    SECRET_KEY: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'silent',
    PORT: '0',
  })
  return { config: { ...config, ...overrides }, drop: () => database.drop() }
}

/** Starts a complete `Core` with the real Postgres, event store and vault. */
export async function testCore(overrides: Partial<Config> = {}): Promise<RunningCore> {
  const { config, drop } = await testConfig(overrides)
  const running = await startCore(config)
  return {
    core: running.core,
    close: async () => {
      await running.close()
      await drop()
    },
  }
}
