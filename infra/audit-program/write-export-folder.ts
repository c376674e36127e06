import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import {
  MANIFEST_FILE,
  type Manifest,
  manifestOf,
  SEALED_FOLDER,
  SEGMENT_FOLDER,
} from './export-format.ts'
import { type ExportOptions, type ExportSource, exportFiles } from './write-export.ts'

/**
 * Writes an export into a folder. Complete segments of an earlier or interrupted export of the same
 * folder are kept, and segments that no longer belong to it are removed at the end.
 */
export async function writeExportFolder(
  source: ExportSource,
  folder: string,
  options: Omit<ExportOptions, 'findWritten'>,
): Promise<Manifest> {
  mkdirSync(join(folder, SEGMENT_FOLDER), { recursive: true })
  const findWritten = async (name: string) => {
    const path = join(folder, name)
    if (!existsSync(path)) return null
    const bytes = readFileSync(path)
    return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
  }
  for await (const { name, bytes } of exportFiles(source, { ...options, findWritten })) {
    if (bytes !== null) writeWhole(join(folder, name), bytes)
  }
  const manifest = manifestOf(readFileSync(join(folder, MANIFEST_FILE), 'utf8'))
  const { segments } = manifest
  const names = new Set(segments.flatMap(({ name, sealed }) => [name, sealed?.name]))
  for (const kind of [SEGMENT_FOLDER, SEALED_FOLDER]) {
    for (const file of existsSync(join(folder, kind)) ? readdirSync(join(folder, kind)) : []) {
      if (!names.has(`${kind}/${file}`)) rmSync(join(folder, kind, file))
    }
  }
  return manifest
}

/** Renames the file when it is complete, so that an interrupted write leaves no part of it. */
function writeWhole(path: string, bytes: Buffer): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(`${path}.unfinished`, bytes)
  renameSync(`${path}.unfinished`, path)
}
