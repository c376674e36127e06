import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from './config.ts'
import { ConfigError } from './config-error.ts'
import { makeDataFolder } from './data-folder.ts'

/**
 * The 32 bytes that everything secret is encrypted under: given, or made once and kept in
 * `dataDir` (mode 0600). Has to be called before the database in `dataDir` is made: beside one, a
 * missing key is lost, and a new one in its place would look like the real one. Throws
 * `ConfigError` then, and when the kept file is damaged or can't be made; nothing is written.
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
    if (existsSync(join(dataDir, 'postgres'))) throw keyMissing(path)
    makeKeyFile(dataDir, path)
  }
  const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'base64')
  if (key.length !== 32) {
    throw new ConfigError('DATA_DIR', `${path} does not hold 32 bytes as base64: restore it`)
  }
  return key
}

const keyMissing = (path: string): ConfigError =>
  new ConfigError(
    'DATA_DIR',
    `${path} is missing, and without it the provider keys, tokens and passwords in the database ` +
      'beside it can not be read: restore the file, or set SECRET_KEY to what it held',
  )

function makeKeyFile(dataDir: string, path: string): void {
  makeDataFolder(dataDir)
  const text = `${randomBytes(32).toString('base64')}\n`
  try {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx', flush: true })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    // Another start on this folder was first; its key is the one.
    if (code === 'EEXIST') return
    throw new ConfigError('DATA_DIR', `${path} can't be written (${message})`)
  }
}
