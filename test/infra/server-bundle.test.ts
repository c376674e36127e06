import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeEach, expect, it } from 'vitest'
import { UNBUNDLED_MODULES } from '#infra/server-bundle/build-server-bundle.ts'
import { currentBundle, stampOf } from '#infra/server-bundle/bundle-manifest.ts'

const ROOT = resolve(import.meta.dirname, '../..')

let root: string
let folder: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tallygate-bundle-'))
  folder = join(root, 'bundle')
  mkdirSync(folder)
  writeFileSync(join(root, 'a.ts'), 'one')
  writeFileSync(join(root, 'b.ts'), 'two')
  writeFileSync(join(folder, 'code.mjs'), '')
  const sources = { 'a.ts': stampOf(join(root, 'a.ts')), 'b.ts': stampOf(join(root, 'b.ts')) }
  writeFileSync(
    join(folder, 'manifest.json'),
    JSON.stringify({ root, file: 'code.mjs', bytes: 0, sources }),
  )
})

it('the bundle is loaded while no source file has changed', () => {
  expect(currentBundle(folder, root)).toBe(join(folder, 'code.mjs'))
})

it.each<[string, () => void]>([
  ['is longer', () => writeFileSync(join(root, 'b.ts'), 'three')],
  ['was written again', () => utimesSync(join(root, 'b.ts'), 1, 1)],
  ['was deleted', () => rmSync(join(root, 'a.ts'))],
])('the source is loaded if a source file %s', (_name, change) => {
  change()
  expect(currentBundle(folder, root)).toBeNull()
})

it('the bundle is loaded from an image, whose files have times in whole seconds', () => {
  for (const name of ['a.ts', 'b.ts']) {
    const path = join(root, name)
    const seconds = Math.floor(statSync(path).mtimeMs / 1_000)
    utimesSync(path, seconds, seconds)
  }
  expect(currentBundle(folder, root)).toBe(join(folder, 'code.mjs'))
})

it('the source is loaded if the checkout was moved after the build', () => {
  const moved = `${root}-moved`
  cpSync(root, moved, { recursive: true, preserveTimestamps: true })
  expect(currentBundle(join(moved, 'bundle'), moved)).toBeNull()
})

it.each<[string, () => void]>([
  ['is not completely written', () => writeFileSync(join(folder, 'code.mjs'), ' ')],
  ['is missing', () => rmSync(join(folder, 'code.mjs'))],
  ['has no manifest', () => rmSync(join(folder, 'manifest.json'))],
  ['has half a manifest', () => writeFileSync(join(folder, 'manifest.json'), '{"file":"co')],
])('the source is loaded if the bundle %s', (_name, change) => {
  change()
  expect(currentBundle(folder, root)).toBeNull()
})

it('modules that tests load before the product can change what it uses', () => {
  const support = join(ROOT, 'test/support')
  const changed = readdirSync(support)
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(support, name), 'utf8'))
    .filter((text) => text.includes('Object.assign('))
    .flatMap((text) => [...text.matchAll(/from '#([^']+)'/g)].map(([, path = '']) => path))
  expect([...UNBUNDLED_MODULES].sort()).toEqual(changed.sort())
  const bundle = currentBundle(join(ROOT, 'node_modules/.cache/server-bundle'), ROOT)
  // Before a complete test run, the bundle is built.
  if (process.env.RUNS_ALL_TESTS === '1') expect(bundle).not.toBeNull()
  if (bundle === null) return
  const code = readFileSync(bundle, 'utf8')
  for (const path of UNBUNDLED_MODULES) {
    expect(code).toContain(`from "${pathToFileURL(join(ROOT, path)).href}"`)
  }
})
