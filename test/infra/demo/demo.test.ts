import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { killTree } from '#test/support/process-tree.ts'

const DATA_DIR = mkdtempSync(join(tmpdir(), 'tallygate-demo-'))
let demo: ChildProcess
let output = ''

beforeAll(() => {
  const { DATABASE_URL: _database, SECRET_KEY: _key, ...environment } = process.env
  demo = spawn(process.execPath, ['infra/demo/demo.ts'], {
    env: { ...environment, PORT: '0', DATA_DIR, ROLES: 'write-api,read-api,projections,relay' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const listen = (bytes: Buffer): void => {
    output += bytes
  }
  demo.stdout?.on('data', listen)
  demo.stderr?.on('data', listen)
})
afterAll(async () => {
  const ended = once(demo, 'exit')
  killTree(demo.pid ?? 0)
  await ended
  rmSync(DATA_DIR, { recursive: true, force: true })
})

it('the demo prints logins and a working curl command, and needs no first run', async () => {
  await expect.poll(() => output, { timeout: 60_000 }).toContain('Ctrl-C stops it')
  expect(output).not.toMatch(/setup|token=/i)
  const [, url, key] = /curl -sN (http:\S+) [\s\S]*?Bearer (sk-\w+)"/.exec(output) ?? []
  const response = await fetch(url ?? '', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sim-small', messages: [{ role: 'user', content: 'Hello' }] }),
  })
  expect(response.status).toBe(200)
})
