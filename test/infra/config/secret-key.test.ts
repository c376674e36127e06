import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadSecretKey } from '#infra/config/secret-key.ts'
import { testDatabase } from '#test/support/test-database.ts'

let dataDir: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'secret-key-'))
})
afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

const load = (more: Partial<Parameters<typeof loadSecretKey>[0]> = {}) =>
  loadSecretKey({ secretKey: null, dataDir, databaseUrl: null, ...more })

/**
 * Runs `npm start`, expects it to fail with exit code 1, and returns what it prints to standard
 * error.
 */
async function failedStart(environment: Record<string, string>): Promise<string> {
  const { DATABASE_URL: _url, SECRET_KEY: _key, ...inherited } = process.env
  const env = { ...inherited, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'error', ...environment }
  const start = promisify(execFile)(process.execPath, ['infra/main.ts'], { env, timeout: 60_000 })
  const { code, stderr } = await start.then(
    () => ({ code: 0, stderr: '' }),
    (error) => error as { code: number; stderr: string },
  )
  expect(code).toBe(1)
  return stderr
}

describe('the secret key in the data folder', () => {
  it('is created once, completely, and is readable by its owner only', () => {
    const key = load()
    expect(key).toHaveLength(32)
    expect(Buffer.from(load()).equals(Buffer.from(key))).toBe(true)
    expect(statSync(join(dataDir, 'secret-key')).mode & 0o077).toBe(0)
    expect(readdirSync(dataDir)).toEqual(['secret-key'])
  })

  it('is not created when the environment gives one', () => {
    const secretKey = Buffer.alloc(32, 'k')
    expect(load({ secretKey })).toBe(secretKey)
    expect(readdirSync(dataDir)).toEqual([])
  })

  it('is not created beside a database whose secrets need the missing key', () => {
    mkdirSync(join(dataDir, 'postgres'))
    expect(() => load()).toThrow(/^DATA_DIR: .*secret-key is missing.*restore/)
    expect(readdirSync(dataDir)).toEqual(['postgres'])
  })

  it('is not created for an external database', () => {
    expect(() => load({ databaseUrl: 'postgres://db.example/x' })).toThrow(/^SECRET_KEY: /)
    expect(readdirSync(dataDir)).toEqual([])
  })

  it('is refused when it is damaged, and the file stays unchanged', async () => {
    const path = join(dataDir, 'secret-key')
    await writeFile(path, 'half\n')
    expect(() => load()).toThrow(/^DATA_DIR: .* does not hold 32 bytes/)
    expect(await readFile(path, 'utf8')).toBe('half\n')
  })

  it('a start without the key of its database ends before it writes anything', async () => {
    mkdirSync(join(dataDir, 'postgres'))
    for (const RELAY_WORKERS of ['1', '2']) {
      expect(await failedStart({ RELAY_WORKERS })).toContain('secret-key is missing')
      const made = readdirSync(dataDir).filter((name) => name !== 'lock' && name !== 'postgres')
      expect(made).toEqual([])
    }
    expect(readdirSync(join(dataDir, 'postgres'))).toEqual([])
  })

  it('a start on another database without a key creates no folder', async () => {
    const database = await testDatabase()
    const elsewhere = join(dataDir, 'new')
    const said = await failedStart({ DATABASE_URL: database.url, DATA_DIR: elsewhere })
    expect(said).toContain('SECRET_KEY: must be given together with DATABASE_URL')
    expect(existsSync(elsewhere)).toBe(false)
    await database.drop()
  })
})
