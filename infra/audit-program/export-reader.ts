import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { MANIFEST_FILE } from './export-format.ts'

/** The files of an export, in a folder or in a tar archive. */
export type ExportReader = {
  /** Returns the bytes of a file, or null if there is no such file. */
  readonly read: (name: string) => Buffer | null
  readonly close: () => void
}

/** Opens an export: its folder, its manifest, or the tar archive that the site sent. */
export function openExport(path: string): ExportReader {
  if (!existsSync(path)) throw new Error(`${path} does not exist`)
  if (statSync(path).isDirectory()) return folderReader(path)
  if (basename(path) === MANIFEST_FILE) return folderReader(join(path, '..'))
  return tarReader(path)
}

const folderReader = (folder: string): ExportReader => ({
  read: (name) => {
    const path = join(folder, name)
    return existsSync(path) ? readFileSync(path) : null
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

/** Reads the headers of the archive. A file that was cut off is left out. */
function entriesOf(file: number, path: string): Map<string, Entry> {
  const entries = new Map<string, Entry>()
  const length = fstatSync(file).size
  for (let offset = 0; offset + BLOCK <= length; ) {
    const header = bytesAt(file, offset, BLOCK)
    if (header[0] === 0) break
    const isTar = header.toString('latin1', 257, 262) === 'ustar'
    const size = Number.parseInt(header.toString('latin1', 124, 135), 8)
    if (!isTar || !Number.isSafeInteger(size)) throw new Error(`${path} is not an export`)
    const name = header.toString('utf8', 0, header.indexOf(0))
    const entry = { offset: offset + BLOCK, size }
    if (entry.offset + size <= length) entries.set(name, entry)
    offset = entry.offset + Math.ceil(size / BLOCK) * BLOCK
  }
  return entries
}

function bytesAt(file: number, offset: number, size: number): Buffer {
  const bytes = Buffer.alloc(size)
  readSync(file, bytes, 0, size, offset)
  return bytes
}
