import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { ConfigError } from '#infra/config/config-types.ts'
import { makeDataFolder } from '#infra/config/data-folder.ts'

const folder = mkdtempSync(join(tmpdir(), 'data-folder-'))
afterAll(() => rmSync(folder, { recursive: true }))

it('a data folder is created with its parent folders, for its owner only', () => {
  const path = join(folder, 'a', 'b', 'c')
  makeDataFolder(path)
  makeDataFolder(path)
  expect(statSync(path).mode & 0o777).toBe(0o700)
})

it('a data folder that can’t be created is reported with the variable and the reason', () => {
  const file = join(folder, 'file')
  writeFileSync(file, '')
  for (const [path, reason] of [
    [join(file, 'x'), 'ENOTDIR'],
    ['/proc/tallygate', 'ENOENT'],
  ] as const) {
    const make = () => makeDataFolder(path)
    expect(make).toThrow(ConfigError)
    expect(make).toThrow(`DATA_DIR: the folder ${path} can't be created (${reason}`)
  }
})
