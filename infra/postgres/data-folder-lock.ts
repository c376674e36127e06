import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ConfigError } from '../config/config-types.ts'
import { makeDataFolder } from '../config/data-folder.ts'

/** Thrown when another process uses this data folder. The message names the process. */
class DataFolderInUse extends Error {
  readonly isOperatorError = true
  constructor(dataDir: string, owner: string) {
    super(`the data folder ${dataDir} is in use by ${owner}: stop that process, or set DATA_DIR`)
    this.name = 'DataFolderInUse'
  }
}

export type DataLock = { readonly release: () => void }

const SQLITE_BUSY = 5

/**
 * Locks the data folder, or throws `DataFolderInUse` immediately. Throws `ConfigError` if the
 * folder can't be written.
 *
 * SQLite locks a file in the folder. The kernel releases the lock even if the process is killed, so
 * there are no stale locks and a reused pid does no harm. The owner file is only used for the error
 * message.
 */
export function lockDataFolder(dataDir: string): DataLock {
  makeDataFolder(dataDir)
  const ownerFile = join(dataDir, 'owner')
  const lock = openExclusively(join(dataDir, 'lock'))
  if (lock === null) throw new DataFolderInUse(dataDir, ownerOf(ownerFile))
  writeFileSync(ownerFile, `process ${process.pid}, since ${new Date().toISOString()}\n`)
  return {
    release: () => {
      rmSync(ownerFile, { force: true })
      lock.close()
    },
  }
}

function openExclusively(path: string): DatabaseSync | null {
  const database = openFile(path)
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE')
    database.exec('BEGIN EXCLUSIVE')
    return database
  } catch (error) {
    database.close()
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return null
    throw error
  }
}

function openFile(path: string): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout: 0 })
  } catch (error) {
    const { message } = error as Error
    throw new ConfigError('DATA_DIR', `${path} can't be written (${message})`)
  }
}

function ownerOf(ownerFile: string): string {
  try {
    return readFileSync(ownerFile, 'utf8').trim() || 'another process'
  } catch {
    return 'another process'
  }
}
