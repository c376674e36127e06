import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const ROOT = resolve(import.meta.dirname, '../..')
/** `npm ci` deletes this folder together with the packages that the bundle contains. */
export const BUNDLE_FOLDER = join(ROOT, 'node_modules/.cache/server-bundle')
export const MANIFEST = 'manifest.json'

/** Describes the bundle in a folder. */
export type BundleManifest = {
  /** The file of the bundle, relative to the folder. */
  readonly file: string
  /** The stamps (see `stampOf`) of the files that it was built from, by path from the root. */
  readonly sources: Readonly<Record<string, string>>
}

/** Returns the size of a file in bytes and the time of its last change, in Unix seconds. */
export function stampOf(path: string): string {
  const { size, mtimeMs } = statSync(path)
  return `${size} ${Math.floor(mtimeMs / 1_000)}`
}

/** Returns the bundle in a folder, or null if a source file below `root` has changed since. */
export function currentBundle(folder: string, root: string): string | null {
  try {
    const text = readFileSync(join(folder, MANIFEST), 'utf8')
    const { file, sources }: BundleManifest = JSON.parse(text)
    const bundle = join(folder, file)
    const isCurrent = ([path, stamp]: [string, string]) => stampOf(join(root, path)) === stamp
    return Object.entries(sources).every(isCurrent) && existsSync(bundle) ? bundle : null
  } catch {
    // There is no bundle, or a source file of it was moved.
    return null
  }
}
