import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readConfig } from '#infra/config/read-config.ts'
import { assertPortFree } from '#infra/http-listener.ts'
import { lockDataFolder } from '#infra/postgres/data-folder-lock.ts'

let taken: Server
let PORT: string
const dataDir = mkdtempSync(join(tmpdir(), 'tallygate-listening-'))

beforeAll(async () => {
  taken = createServer()
  await once(taken.listen(0, '127.0.0.1'), 'listening')
  PORT = String((taken.address() as AddressInfo).port)
})
afterAll(() => {
  taken.close()
  rmSync(dataDir, { recursive: true, force: true })
})

it.each([
  ['a taken port', () => ({ PORT }), /^Tallygate can't start\. PORT: .*EADDRINUSE.*\n$/],
  [
    'a host of others',
    () => ({ PORT: '0', HOST: '203.0.113.1' }),
    /^Tallygate can't start\. HOST: .*EADDRNOTAVAIL.*\n$/,
  ],
])('%s gives one line and exit code 1, before anything is started or created', (_, given, line) => {
  const { DATABASE_URL: _database, SECRET_KEY: _key, ...inherited } = process.env
  const DATA_DIR = join(dataDir, 'new')
  const { status, stdout, stderr } = spawnSync(process.execPath, ['infra/main.ts'], {
    env: { ...inherited, LOG_LEVEL: 'info', DATA_DIR, ...given() },
    encoding: 'utf8',
  })
  expect([status, stdout, stderr]).toEqual([1, '', expect.stringMatching(line)])
  expect(existsSync(DATA_DIR)).toBe(false)
})

it('a folder in use is reported before a port in use; a free port stays free', async () => {
  const lock = lockDataFolder(dataDir)
  const config = readConfig({ DATA_DIR: dataDir, PORT })
  await expect(assertPortFree(config)).rejects.toThrow(`in use by process ${process.pid}`)
  lock.release()
  await expect(assertPortFree(config)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await new Promise((closed) => taken.close(closed))
  await assertPortFree(config)
  await once(taken.listen(Number(PORT), '127.0.0.1'), 'listening')
})
