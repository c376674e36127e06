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
 * Loads the servers' programs from their bundle if no source file has changed since it was built,
 * and otherwise from the source. The bundle is the same code, and loads in a quarter of the time,
 * because it is one file instead of 2 400. With `RUN_FROM_SOURCE=1`, the source is loaded, as a
 * debugger and `node --watch` need.
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
 * Builds the bundle for the next start, unless one was built since the packages were installed.
 * While a developer changes the source, servers therefore run from source. The build takes some
 * seconds at the lowest priority, and ends with this process.
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
    // The folder can't be written, or the machine refuses a further process or its priority. The
    // server runs without a bundle.
  }
}
