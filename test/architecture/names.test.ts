import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fileNameFaults, forbiddenSyntax, replacedWords } from './source-checks.ts'
import { filesBelow, PARTS, ROOT, sourceFiles } from './source-tree.ts'

const ROOT_ALLOWED = new Set([
  ...PARTS,
  'package.json',
  'README.md',
  'package-lock.json',
  'tsconfig.json',
  'biome.json',
  'vitest.config.ts',
  '.env.example',
  '.gitignore',
  '.dockerignore',
  '.npmrc',
  '.editorconfig',
  '.nvmrc',
  'LICENSE',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  '.ci',
])
const LOCAL = new Set(['node_modules', '.git', '.env'])
const FORBIDDEN = new Set([
  'common',
  'utils',
  'util',
  'helpers',
  'service',
  'services',
  'manager',
  'v2',
])

function documents(): { readonly path: string; readonly text: string }[] {
  return [...PARTS.flatMap((part) => filesBelow(part)), 'README.md', 'CONTRIBUTING.md']
    .filter((path) => path.endsWith('.md'))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
}

describe('names', () => {
  it('the top level holds only what it may', () => {
    const strangers = readdirSync(ROOT).filter(
      (name) => !ROOT_ALLOWED.has(name) && !LOCAL.has(name) && !name.startsWith('.data'),
    )
    expect(strangers).toEqual([])
  })

  it('no folder is called after nothing in particular', () => {
    const paths = PARTS.flatMap((part) => filesBelow(part))
    const bad = paths.filter((path) => path.split('/').some((part) => FORBIDDEN.has(part)))
    expect(bad).toEqual([])
  })

  it('files are kebab-case, and no barrel hides what a folder exports', () => {
    expect(sourceFiles().flatMap(fileNameFaults)).toEqual([])
  })

  it('no default export, no enum, no loose end', () => {
    expect(sourceFiles().flatMap(forbiddenSyntax)).toEqual([])
  })

  it('words that were replaced have not come back', () => {
    const files = PARTS.flatMap((part) => filesBelow(part))
      .filter((path) => /\.(tsx?|md|sql|css)$/.test(path))
      .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
    expect(files.flatMap(replacedWords)).toEqual([])
  })

  it('.tsx lives in the console alone', () => {
    const bad = sourceFiles().filter(
      ({ path }) => path.endsWith('.tsx') && !/^(console|test\/console)\//.test(path),
    )
    expect(bad.map(({ path }) => path)).toEqual([])
  })

  it('READMEs stay short enough to be read', () => {
    const long = ['', ...PARTS]
      .flatMap((part) => (part === '' ? ['README.md'] : filesBelow(part)))
      .filter((path) => path.endsWith('README.md') && path !== 'README.md')
      .map((path) => ({ path, lines: readFileSync(join(ROOT, path), 'utf8').split('\n').length }))
      .filter(({ lines }) => lines > 100)
    expect(long).toEqual([])
  })

  it('no line of Markdown is wider than 120', () => {
    const wide = documents().flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) => {
        const width = [...line].length
        return width > 120 ? [`${path}:${index + 1} (${width})`] : []
      }),
    )
    expect(wide).toEqual([])
  })

  it('links of guides and READMEs lead to files', () => {
    const broken = documents().flatMap(({ path, text }) =>
      [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
        .filter(([, link = '']) => !existsSync(join(ROOT, dirname(path), link)))
        .map(([, link]) => `${path}: ${link}`),
    )
    expect(broken).toEqual([])
  })

  it('source files named in guides and READMEs exist', () => {
    const paths = PARTS.flatMap((part) => filesBelow(part)).map((path) => `/${path}`)
    const missing = documents().flatMap(({ path, text }) =>
      [...text.matchAll(/`([\w./-]+\.tsx?)`/g)]
        .filter(
          ([, name = '']) => !paths.some((each) => each.endsWith(`/${name.replace(/^\.+\//, '')}`)),
        )
        .map(([, name]) => `${path}: ${name}`),
    )
    expect(missing).toEqual([])
  })

  it('the lock file names no registry', () => {
    expect(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).not.toMatch(/"resolved"/)
  })
})
