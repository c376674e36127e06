import {
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { MANIFEST_FILE, SEGMENT_BYTES_MAX } from './export-format.ts'

/** Reads the files of an export from a folder or a tar archive. */
export type ExportReader = {
  /**
   * Returns the bytes of a file. Returns null if the file is missing, too large or not a regular
   * file, or if no file of an export can have this name.
   */
  readonly read: (name: string) => Buffer | null
  readonly close: () => void
}

/**
 * Opens an export. `path` is the export's folder, its manifest, or the tar archive that the site
 * sent. Throws if `path` does not exist or is a file of another format.
 */
export function openExport(path: string): ExportReader {
  if (!existsSync(path)) throw new Error(`${path} does not exist`)
  if (statSync(path).isDirectory()) return folderReader(path)
  if (basename(path) === MANIFEST_FILE) return folderReader(join(path, '..'))
  return tarReader(path)
}

/**
 * Matches the names of an export's files. Only these files are read: the names come from the
 * manifest, and another name could lead out of the folder.
 */
const FILE_NAME = /^(?:manifest\.json|segments\/[\d-]+\.ndjson\.gz|sealed\/[\d-]+\.sha256)$/

const folderReader = (folder: string): ExportReader => ({
  read: (name) => {
    if (!FILE_NAME.test(name)) return null
    const path = join(folder, name)
    const found = lstatSync(path, { throwIfNoEntry: false })
    // Reading a link, a pipe or a device might never end.
    return found?.isFile() === true && found.size <= SEGMENT_BYTES_MAX ? readFileSync(path) : null
  },
  close: () => {},
})

const BLOCK = 512

type Entry = { readonly offset: number; readonly size: number }

function tarReader(path: string): ExportReader {
  const file = openSync(path, 'r')
  try {
    const entries = entriesOf(file, path)
    return {
      read: (name) => {
        const entry = entries.get(name)
        return entry === undefined ? null : bytesAt(file, entry.offset, entry.size)
      },
      close: () => closeSync(file),
    }
  } catch (error) {
    closeSync(file)
    throw error
  }
}

/**
 * Reads the headers of the archive, and returns the offset and size of each file by its name.
 * Leaves out files that are cut off or too large.
 */
function entriesOf(file: number, path: string): Map<string, Entry> {
  const entries = new Map<string, Entry>()
  const length = fstatSync(file).size
  for (let offset = 0; offset + BLOCK <= length; ) {
    const header = bytesAt(file, offset, BLOCK)
    if (header[0] === 0) break
    const isTar = header.toString('latin1', 257, 262) === 'ustar'
    const digits = header.toString('latin1', 124, 135)
    if (!isTar || !/^[0-7]{11}$/.test(digits)) throw new Error(`${path} is not an export`)
    const size = Number.parseInt(digits, 8)
    const name = header.toString('utf8', 0, header.indexOf(0))
    const entry = { offset: offset + BLOCK, size }
    const isWhole = entry.offset + size <= length && size <= SEGMENT_BYTES_MAX
    if (isWhole && FILE_NAME.test(name)) entries.set(name, entry)
    offset = entry.offset + Math.ceil(size / BLOCK) * BLOCK
  }
  return entries
}

function bytesAt(file: number, offset: number, size: number): Buffer {
  const bytes = Buffer.alloc(size)
  readSync(file, bytes, 0, size, offset)
  return bytes
}
