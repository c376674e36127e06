import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, ConfigError } from './config-types.ts'
import { makeDataFolder } from './data-folder.ts'

/**
 * Returns the 32 bytes from which all encryption and hash keys are derived: the configured key, or
 * a key that is generated once and stored in `dataDir` with mode 0600. Throws `ConfigError` for a
 * damaged key file.
 *
 * Call this function before the database in `dataDir` is created. A database without a key file
 * means that the key was lost. In this case, `ConfigError` is thrown and no new key is written.
 */
export function loadSecretKey({
  secretKey,
  dataDir,
  databaseUrl,
}: Pick<Config, 'secretKey' | 'dataDir' | 'databaseUrl'>): Uint8Array {
  if (secretKey !== null) return secretKey
  if (databaseUrl !== null) {
    throw new ConfigError('SECRET_KEY', 'must be given together with DATABASE_URL')
  }
  const path = join(dataDir, 'secret-key')
  if (!existsSync(path)) {
    if (existsSync(join(dataDir, 'postgres'))) throw missingKeyError(path)
    makeKeyFile(dataDir, path)
  }
  const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'base64')
  if (key.length !== 32) {
    throw new ConfigError('DATA_DIR', `${path} does not hold 32 bytes as base64: restore it`)
  }
  return key
}

const missingKeyError = (path: string): ConfigError =>
  new ConfigError(
    'DATA_DIR',
    `${path} is missing, and without it the provider keys, tokens and passwords in the database ` +
      'beside it cannot be read: restore the file, or set SECRET_KEY to its content',
  )

function makeKeyFile(dataDir: string, path: string): void {
  makeDataFolder(dataDir)
  const text = `${randomBytes(32).toString('base64')}\n`
  try {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx', flush: true })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    // Another process has created the key file since `existsSync` was called. Its file is used.
    if (code === 'EEXIST') return
    throw new ConfigError('DATA_DIR', `${path} can't be written (${message})`)
  }
}
