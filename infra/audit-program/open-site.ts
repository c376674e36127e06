import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../config/config.ts'
import { readConfig } from '../config/read-config.ts'
import { loadSecretKey } from '../config/secret-key.ts'
import { runningServer } from '../postgres/running-server.ts'
import { type RunningCore, startCore } from '../start-core.ts'

/**
 * Opens the site of the environment, as the server reads it: the database at `DATABASE_URL`, or the
 * one in `DATA_DIR`. If the site is running, its embedded Postgres is used; otherwise it is started
 * until `close` is called.
 */
export async function openSite(
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<RunningCore> {
  const config = readConfig({ LOG_LEVEL: 'error', ...environment })
  if (config.databaseUrl !== null) return await startCore(config, signal)
  const { dataDir } = config
  if (!existsSync(join(dataDir, 'postgres'))) {
    throw new ConfigError('DATA_DIR', `there is no site in ${dataDir}`)
  }
  const databaseUrl = runningServer(dataDir)
  if (databaseUrl === null) return await startCore(config, signal)
  return await startCore({ ...config, secretKey: loadSecretKey(config), databaseUrl }, signal)
}
