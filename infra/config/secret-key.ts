import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from './config-error.ts'
import { makeDataFolder } from './data-folder.ts'

/**
 * The 32 bytes that everything secret is encrypted under: given, or made once and kept in
 * `dataDir` (mode 0600). Throws `ConfigError` when the kept file is damaged.
 */
export function loadSecretKey(given: Uint8Array | null, dataDir: string): Uint8Array {
  if (given !== null) return given
  const path = join(dataDir, 'secret-key')
  if (!existsSync(path)) {
    makeDataFolder(dataDir)
    try {
      writeFileSync(path, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx' })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
  const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'base64')
  if (key.length !== 32) {
    throw new ConfigError('DATA_DIR', `${path} does not hold 32 bytes as base64: restore it`)
  }
  return key
}
