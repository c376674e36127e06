import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { ConfigError } from './config-types.ts'

/** Creates the data folder with mode 0700 unless it exists. Throws `ConfigError` if this fails. */
export function makeDataFolder(dataDir: string): void {
  try {
    makeFolder(dataDir)
  } catch (error) {
    const { message } = error as Error
    throw new ConfigError('DATA_DIR', `the folder ${dataDir} can't be created (${message})`)
  }
}

/**
 * Creates a folder and its missing parents, one level at a time. NOTE: `mkdirSync` with `recursive:
 * true` is not used, because it loops forever if the file system denies creation.
 */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    const parent = dirname(path)
    if (code !== 'ENOENT' || parent === path) throw error
    makeFolder(parent)
    mkdirSync(path, { mode: 0o700 })
  }
}
