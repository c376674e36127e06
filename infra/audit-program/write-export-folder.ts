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
import {
  type ExportOptions,
  type ExportSource,
  exportFiles,
  treeBefore,
} from './generate-export-files.ts'
import { parseCheckpointOrNull, type SignedCheckpoint } from './signed-checkpoint.ts'

/** Thrown if the folder contains an export that the new export does not continue. */
export class OtherExport extends Error {}

/**
 * Writes an export into a folder. Complete segments of an earlier or interrupted export in the
 * folder are kept. At the end, segments that do not belong to the new export are removed. Throws
 * `OtherExport` if the new export does not continue the export in the folder (see
 * `verifyContinues`), because the existing export may be somebody's evidence.
 */
export async function writeExportFolder(
  source: ExportSource,
  folder: string,
  options: Omit<ExportOptions, 'findWritten' | 'before'>,
): Promise<Manifest> {
  const before = await verifyContinues(source, folder, options)
  mkdirSync(join(folder, SEGMENT_FOLDER), { recursive: true })
  const findWritten = async (name: string) => {
    const path = join(folder, name)
    if (!existsSync(path)) return null
    const bytes = readFileSync(path)
    return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
  }
  const resumed = { ...options, findWritten, ...(before === null ? {} : { before }) }
  for await (const { name, bytes } of exportFiles(source, resumed)) {
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

/**
 * Throws `OtherExport` if the export in the folder is of another site or history, begins with
 * another event, ends after the last event of the new export, or has a damaged manifest. Returns
 * the tree of the events before the exported range, which was computed for the comparison. Returns
 * null if the folder has no export, or an export without events.
 */
async function verifyContinues(
  { records, sealedTree }: ExportSource,
  folder: string,
  { from = 1, to }: Pick<ExportOptions, 'from' | 'to'>,
): Promise<Manifest['treeBefore'] | null> {
  const path = join(folder, MANIFEST_FILE)
  if (!existsSync(path)) return null
  const found = manifestIn(path)
  if (found.events === 0) return null
  const refuse = (reason: string): never => {
    throw new OtherExport(`${folder} has an export ${reason}. Name another folder`)
  }
  const tree = await sealedTree()
  const origins = originsOf(tree.keys)
  const isSameSite = originsOf(found.keys).every((origin) => origins.includes(origin))
  if (!isSameSite) refuse(`of another site (${originsOf(found.keys).join(', ')})`)
  // If positions have gaps, the first event can be at a later position than `from`. The trees
  // before the exports are therefore compared instead.
  const before = await treeBefore(records, from)
  if (found.treeBefore.size !== before.size) {
    refuse(`that begins with the event at position ${found.first}, not ${from}`)
  }
  if (found.treeBefore.subtrees.join() !== before.subtrees.join()) {
    refuse('that follows other events than this site has')
  }
  const newest = newestCheckpoint(found)
  const root = newest === null ? null : ((await tree.rootAt?.(newest.size)) ?? null)
  if (newest !== null && root?.equals(newest.root) !== true) {
    refuse(
      `of another history: this site's log differs from its checkpoint of ${newest.size} events. ` +
        'Keep it as evidence',
    )
  }
  const last = Math.min(to ?? Number.MAX_SAFE_INTEGER, await records.head())
  if (found.last > last) refuse(`of more events: up to position ${found.last}, not ${last}`)
  return before
}

/**
 * Returns the signed checkpoint with the most events, or null if there is none. Malformed
 * checkpoints are skipped here, and reported when the export is verified.
 */
function newestCheckpoint({ signedCheckpoints, continuation }: Manifest): SignedCheckpoint | null {
  const next = continuation === undefined ? [] : [continuation.signedCheckpoint]
  let newest: SignedCheckpoint | null = null
  for (const note of [...signedCheckpoints, ...next]) {
    const checkpoint = parseCheckpointOrNull(note)
    if (checkpoint !== null && checkpoint.size >= (newest?.size ?? 0)) newest = checkpoint
  }
  return newest
}

function manifestIn(path: string): Manifest {
  try {
    return manifestOf(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new OtherExport(`${path} is no manifest of an export: ${(error as Error).message}`)
  }
}

/** Returns the log names in the keys. A log keeps its name when it replaces its key. */
const originsOf = (keys: readonly string[]): string[] => [
  ...new Set(keys.map((key) => key.split('+')[0] ?? '')),
]

/**
 * Writes the file under another name and then renames it, so that an interrupted write leaves no
 * incomplete file.
 */
function writeWhole(path: string, bytes: Buffer): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(`${path}.unfinished`, bytes)
  renameSync(`${path}.unfinished`, path)
}
