import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')
const ENTRY = join(import.meta.dirname, 'offline-verifier.ts')

const HEADER = [
  '// The offline verifier of Tallygate. It is generated from its TypeScript sources, which are',
  '// named below. It needs Node 20 or newer: no packages, no network, no database.',
  '// Usage: node verify.mjs FOLDER',
].join('\n')

let bundled: string | null = null

/**
 * Returns the offline verifier as one JavaScript module without dependencies. Each source file
 * becomes a function that returns the exports of the file, so that equal names in different files
 * do not collide. Types are removed. The rest of the code is unchanged, except for imports, exports
 * and white space.
 */
export function bundleOfflineVerifier(): string {
  bundled ??= link()
  return bundled
}

type Module = { readonly name: string; readonly path: string; readonly code: string }

function link(): string {
  const modules: Module[] = []
  const builtins = new Map<string, Set<string>>()
  const nameOf = (path: string): string => {
    const existing = modules.find((module) => module.path === path)
    if (existing !== undefined) return existing.name
    const code = linked(path, nameOf, builtins)
    const name = `module${modules.length + 1}`
    modules.push({ name, path, code })
    return name
  }
  nameOf(ENTRY)
  const imports = [...builtins].map(
    ([from, names]) => `import { ${[...names].sort().join(', ')} } from '${from}'`,
  )
  const bodies = modules.map(
    ({ name, path, code }) =>
      `// ${relative(ROOT, path)}\nconst ${name} = (() => {\n${code}\n})()\n`,
  )
  return `${HEADER}\n\n${imports.sort().join('\n')}\n\n${bodies.join('\n')}`
}

const IMPORT = /^import\s*\{([^}]*)\}\s*from\s*'([^']+)'\s*;?$/gm
const EXPORTED = /^export (?:async )?(?:const|function\*?|class) (\w+)/gm

/**
 * Converts the source file at `path` to the body of a function that has no parameters. The body
 * reads the imports of the file from the constants of the other modules, and returns the exports of
 * the file.
 */
function linked(
  path: string,
  nameOf: (path: string) => string,
  builtins: Map<string, Set<string>>,
): string {
  const stripped = withoutTypes(readFileSync(path, 'utf8'))
  const body = stripped.replace(IMPORT, (_, list: string, from: string) => {
    const names = list.split(',').map((name) => name.trim())
    const used = names.filter((name) => name !== '')
    if (from.startsWith('node:')) {
      builtins.set(from, new Set([...(builtins.get(from) ?? []), ...used]))
      return ''
    }
    return used.length === 0 ? '' : `const { ${used.join(', ')} } = ${nameOf(fileOf(path, from))}`
  })
  if (/^export [{*]/m.test(body)) throw new Error(`the verifier can't contain a re-export: ${path}`)
  const exported = [...body.matchAll(EXPORTED)].map(([, name]) => name)
  const code = body.replace(/^export /gm, '')
  return `${tidied(code)}\nreturn { ${exported.join(', ')} }`
}

function fileOf(importer: string, from: string): string {
  if (from.startsWith('.')) return resolve(dirname(importer), from)
  if (from.startsWith('#')) return join(ROOT, from.slice(1))
  throw new Error(`the verifier may not depend on the package ${from}`)
}

/**
 * Removes the types from TypeScript source. Suppresses Node's warning that type stripping is
 * experimental, because operators have no use for this warning.
 */
function withoutTypes(source: string): string {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(source)
  } finally {
    process.emitWarning = emitWarning
  }
}

/** Removes the spaces with which Node has replaced the types. */
const tidied = (code: string): string =>
  code
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
