import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

export const ROOT = resolve(import.meta.dirname, '../..')
const SKIPPED = new Set(['node_modules', '.git', '.data', 'dist', '.artifacts', 'coverage'])

export type SourceFile = { readonly path: string; readonly text: string }

/** Every file below `folder` (from the root), as paths with forward slashes. */
export function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return []
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    return entry.isDirectory() ? filesBelow(path) : [path]
  })
}

export const PARTS = [
  'domain',
  'write-api',
  'projections',
  'read-api',
  'relay',
  'console',
  'infra',
  'test',
] as const

export function sourceFiles(): SourceFile[] {
  return PARTS.flatMap((part) => filesBelow(part))
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
}

export type Import = { readonly target: string }

const STATEMENT =
  /(?:^|\n)\s*(?:import|export)\s+(?:type\s+)?(?:[\w*{}\s,$]+?\sfrom\s+)?['"]([^'"\n]+)['"]/g
const DYNAMIC = /import\(\s*['"]([^'"\n]+)['"]\s*\)/g

/**
 * Returns the imports of a file: paths from the root for our own files, the bare name for packages.
 */
export function importsOf({ path, text }: SourceFile): Import[] {
  const found: Import[] = []
  for (const pattern of [STATEMENT, DYNAMIC]) {
    for (const [, specifier = ''] of text.matchAll(pattern)) {
      found.push({ target: locate(path, specifier) })
    }
  }
  return found
}

function locate(from: string, specifier: string): string {
  if (specifier.startsWith('#')) return specifier.slice(1)
  if (!specifier.startsWith('.')) return `npm:${specifier}`
  return relative(ROOT, resolve(ROOT, dirname(from), specifier))
}
