import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const ROOT = resolve(import.meta.dirname, '../..')
/**
 * The folder of the bundle. `npm ci` deletes this folder together with the packages that the bundle
 * contains.
 */
export const BUNDLE_FOLDER = join(ROOT, 'node_modules/.cache/server-bundle')
export const MANIFEST = 'manifest.json'

/** Reports whether a bundle was built since the packages were installed. */
export const isBundleBuilt = (): boolean => existsSync(join(BUNDLE_FOLDER, MANIFEST))

/**
 * Reports whether the bundler, a development dependency, is installed. Without the bundler, no
 * bundle can be built.
 */
export const isBundlerInstalled = (): boolean =>
  existsSync(join(ROOT, 'node_modules/rolldown/package.json'))

/** Describes the bundle in a folder. */
export type BundleManifest = {
  /** The folder of the checkout. The bundle contains absolute paths of files in this folder. */
  readonly root: string
  /** The file of the bundle, relative to the folder. */
  readonly file: string
  /** The length of the file. A file that was not completely written is shorter. */
  readonly bytes: number
  /**
   * The stamps (see `stampOf`) of the files from which the bundle was built, by path from `root`.
   */
  readonly sources: Readonly<Record<string, string>>
}

/** Returns the size of a file in bytes and the time of its last change, in Unix milliseconds. */
export function stampOf(path: string): string {
  const { size, mtimeMs } = statSync(path)
  return `${size} ${mtimeMs}`
}

/**
 * Reports whether a file has the stamp that it had at the build. The layers of a container image
 * keep only whole seconds, so a time without fractions of a second is accepted too.
 */
const isSameStamp = (found: string, built: string): boolean =>
  found === built || found === inWholeSeconds(built)

function inWholeSeconds(stamp: string): string {
  const [size, milliseconds] = stamp.split(' ')
  return `${size} ${Math.floor(Number(milliseconds) / 1_000) * 1_000}`
}

/**
 * Returns the path of the bundle in a folder. Returns null if there is no complete bundle, if the
 * bundle was built in another checkout than `root`, or if a source file has changed since the
 * build.
 */
export function currentBundle(folder: string, root: string): string | null {
  try {
    const text = readFileSync(join(folder, MANIFEST), 'utf8')
    const manifest: BundleManifest = JSON.parse(text)
    const bundle = join(folder, manifest.file)
    if (manifest.root !== root || statSync(bundle).size !== manifest.bytes) return null
    const isCurrent = ([path, stamp]: [string, string]) =>
      isSameStamp(stampOf(join(root, path)), stamp)
    return Object.entries(manifest.sources).every(isCurrent) ? bundle : null
  } catch {
    // There is no bundle, or one of its source files was moved or deleted.
    return null
  }
}
