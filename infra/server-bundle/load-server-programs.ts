import { spawn } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  BUNDLE_FOLDER,
  currentBundle,
  isBundleBuilt,
  isBundlerInstalled,
  ROOT,
} from './bundle-manifest.ts'
import type { programs } from './server-programs.ts'

const SOURCE = join(import.meta.dirname, 'server-programs.ts')
const BUILD = join(import.meta.dirname, 'build-server-bundle.ts')
const LOWEST_PRIORITY = 19

/**
 * Loads the servers' programs from their bundle. Loads them from the source if a source file has
 * changed since the bundle was built, or if the bundle is missing or can't be loaded. The bundle
 * contains the same code and loads in a quarter of the time, because it is one file instead of
 * 2,400 files. With `RUN_FROM_SOURCE=1`, always loads the source, which a debugger and `node
 * --watch` need.
 */
export async function loadServerPrograms(): Promise<typeof programs> {
  const isFromSource = process.env.RUN_FROM_SOURCE === '1'
  const bundle = isFromSource ? null : currentBundle(BUNDLE_FOLDER, ROOT)
  if (bundle !== null) {
    try {
      return await programsOf(bundle)
    } catch (error) {
      process.stderr.write(`the bundle can't be loaded, so the source is: ${String(error)}\n`)
    }
  }
  return await programsOf(SOURCE)
}

async function programsOf(path: string): Promise<typeof programs> {
  const loaded = (await import(pathToFileURL(path).href)) as { programs?: typeof programs }
  if (loaded.programs === undefined) throw new Error(`${path} has no programs`)
  return loaded.programs
}

/**
 * Starts a process that builds the bundle for the next start, unless a bundle was built since the
 * packages were installed. A changed source file does not cause a new build, so servers run from
 * source while a developer changes the code. The build takes some seconds at the lowest priority,
 * and is killed when this process exits.
 */
export function buildMissingBundle(): void {
  if (isBundleBuilt() || !isBundlerInstalled()) return
  try {
    const cache = dirname(BUNDLE_FOLDER)
    accessSync(existsSync(cache) ? cache : dirname(cache), constants.W_OK)
    const build = spawn(process.execPath, [BUILD], { cwd: ROOT, stdio: 'ignore' })
    build.on('error', () => {})
    build.unref()
    process.once('exit', () => build.kill())
    if (build.pid !== undefined) setPriority(build.pid, LOWEST_PRIORITY)
  } catch {
    // The folder can't be written, or the machine refuses another process or its priority. The
    // server runs without a bundle.
  }
}
