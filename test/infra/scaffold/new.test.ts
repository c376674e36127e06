import { execFile, execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  fileNameFaults,
  forbiddenSyntax,
  replacedWords,
  wideLines,
} from '#test/architecture/source-checks.ts'
import { PARTS } from '#test/architecture/source-tree.ts'

const CHECKOUT = resolve(import.meta.dirname, '../../..')
const bin = (name: string): string => join(CHECKOUT, 'node_modules/.bin', name)
const run = promisify(execFile)

let copy: string

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'tallygate-new-'))
  const files = ['package.json', 'tsconfig.json', 'biome.json', '.gitignore', 'vitest.config.ts']
  for (const name of [...PARTS, ...files]) {
    cpSync(join(CHECKOUT, name), join(copy, name), {
      recursive: true,
      filter: (path) => !/\/(dist|\.artifacts)$/.test(path),
    })
  }
  symlinkSync(join(CHECKOUT, 'node_modules'), join(copy, 'node_modules'))
})
afterAll(() => rmSync(copy, { recursive: true, force: true }))

const make = (kind: string, name: string) =>
  run(bin('node'), [join(CHECKOUT, 'infra/scaffold/new.ts'), kind, name], { cwd: copy })

const textOf = (path: string): string => readFileSync(join(copy, path), 'utf8')

describe('npm run new', () => {
  it('creates each kind, and the files pass type check, lint and name checks', async () => {
    const made = [
      await make('action', 'tokens/rename-token'),
      await make('question', 'tokens/token-count'),
      await make('page', 'example-reports'),
      await make('provider', 'example-ai=900'),
      await make('option', 'channels/ExampleEnabled'),
    ]
    const paths = made.flatMap(({ stdout }) => stdout.match(/^ {2}\S+\.tsx?$/gm) ?? [])
    expect(paths.length).toBeGreaterThan(15)
    expect(textOf('write-api/register-write-api-and-start-jobs.ts')).toContain('  renameToken,\n')
    expect(textOf('read-api/tokens/token-count.ts')).toContain("'/api/token/token_count'")
    expect(textOf('console/app/routes.tsx')).toContain("'/app/example-reports'")
    for (const language of ['zh', 'en']) {
      const texts = textOf(`read-api/contract/option-translations/${language}.ts`)
      expect(texts).toContain("    ExampleEnabled: 'ExampleEnabled',\n")
    }
    const options = { cwd: copy, encoding: 'utf8' } as const
    const written = [...new Set(paths.map((path) => path.trim()))]
    const files = written.map((path) => ({ path, text: textOf(path) }))
    for (const check of [wideLines, fileNameFaults, forbiddenSyntax, replacedWords]) {
      expect(files.flatMap(check)).toEqual([])
    }
    execFileSync(bin('biome'), ['check', '--error-on-warnings', ...written], options)
    // Tests that no recipe writes are left out, because they take a third of the time of a check.
    const include = [...PARTS.filter((part) => part !== 'test'), ...written]
    const project = { extends: './tsconfig.json', include }
    writeFileSync(join(copy, 'tsconfig.written.json'), JSON.stringify(project))
    const check = run(bin('tsc'), ['--noEmit', '-p', 'tsconfig.written.json'], options)
    const { stdout } = await check.catch((error) => error)
    expect(stdout).toBe('')
  }, 600_000)

  it('writes nothing if one of its files exists already', async () => {
    const before = textOf('write-api/register-write-api-and-start-jobs.ts')
    const failure = await make('action', 'tokens/delete-tokens').catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 2, stderr: expect.stringContaining('already exists') })
    expect(textOf('write-api/register-write-api-and-start-jobs.ts')).toBe(before)
    expect(existsSync(join(copy, 'test/write-api/delete-tokens.test.ts'))).toBe(false)
  })

  it.each([
    ['nothing', 'x'],
    ['action', 'NoKebab'],
    ['option', 'channels/lower'],
  ])('refuses %s %s and lists what can be created', async (kind, name) => {
    const failure = await make(kind, name).catch((error: unknown) => error)
    const stderr = expect.stringContaining('npm run new -- page NAME')
    expect(failure).toMatchObject({ code: 2, stderr })
  })
})
