import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { GrowingTree } from './append-only-merkle-tree.ts'
import { bundleOfflineVerifier } from './bundle-offline-verifier.ts'
import {
  EXPORT_FORMAT,
  EXPORT_VERSION,
  LOST_HASH,
  MANIFEST_FILE,
  type Manifest,
  type Segment,
  sealedName,
  segmentEnd,
  segmentName,
  VERIFIER_FILE,
} from './export-format.ts'
import { parseCheckpointOrNull } from './signed-checkpoint.ts'
import { leafHash, lineOf, type StoredRecord } from './stored-record.ts'
import type { RecordReader } from './stored-record-reader.ts'

/**
 * The signed checkpoints of the site, the public keys that verify them, and the signed notes by
 * which the site has replaced a key.
 */
export type SealedTree = Pick<
  Manifest,
  'signedCheckpoints' | 'keys' | 'witnessKeys' | 'keyRotations'
>

type ExportedTree = SealedTree & {
  /**
   * Returns up to `count` sealed leaf hashes, beginning with the leaf at index `first`. Returns
   * fewer hashes at the end of the log. A hash that the log has lost is null.
   */
  readonly leafHashes?: (first: number, count: number) => Promise<readonly (Buffer | null)[]>
  /** Returns the proof that the tree of `newSize` events begins with the tree of `size` events. */
  readonly consistencyProof?: (size: number, newSize: number) => Promise<readonly Buffer[]>
  /**
   * Returns the root of the sealed tree of the first `size` events, or null if fewer events are
   * sealed.
   */
  readonly rootAt?: (size: number) => Promise<Buffer | null>
}

export type ExportSource = {
  readonly records: RecordReader
  readonly sealedTree: () => Promise<ExportedTree>
}

export type ExportOptions = {
  /** The positions of the first and the last event to export. The default is all events. */
  readonly from?: number
  readonly to?: number
  readonly exportedAt: Date
  /** The tree of the events before `from`, if the caller has already computed it. */
  readonly before?: Manifest['treeBefore']
  /**
   * Looks for a segment that an interrupted export has already written. Returns null if no such
   * segment was written.
   */
  readonly findWritten?: (name: string) => Promise<Pick<Segment, 'bytes' | 'sha256'> | null>
  readonly onProgress?: (position: number, last: number) => void
}

/**
 * A file of an export. `bytes` is null for a segment that an interrupted export has already
 * written.
 */
export type ExportFile = { readonly name: string; readonly bytes: Buffer | null }

const PAGE = 2_500
const compress = promisify(gzip)

/**
 * Yields the files of an export: instructions, verifier, segments with their sealed hashes, and the
 * manifest last, because it names the segments. At most two segments are in memory: one that is
 * sent, and the next one, which is read meanwhile.
 */
export async function* exportFiles(
  { records, sealedTree }: ExportSource,
  options: ExportOptions,
): AsyncGenerator<ExportFile> {
  const { from = 1, to, exportedAt, findWritten, onProgress = () => {} } = options
  // The signed tree is read before the position of the last event, so that the export contains all
  // events of this tree.
  const { leafHashes, consistencyProof, rootAt: _, ...sealed } = await sealedTree()
  const last = Math.min(to ?? Number.MAX_SAFE_INTEGER, await records.head())
  const before = options.before ?? (await treeBefore(records, from))
  const { arePositionsDense } = records
  const hashes: SealedHashes = {
    ...{ sizeBefore: before.size, arePositionsDense },
    ...(leafHashes === undefined ? {} : { leafHashes }),
  }
  yield { name: 'README.txt', bytes: Buffer.from(INSTRUCTIONS) }
  yield { name: VERIFIER_FILE, bytes: Buffer.from(bundleOfflineVerifier()) }
  const segments: Segment[] = []
  let pending: Promise<Packed | null> | null = null
  for (let first = from; first <= last; first = segmentEnd(first) + 1) {
    const range = { first, last: Math.min(segmentEnd(first), last) }
    const next: Promise<Packed | null> = packed(records, range, findWritten)
    // This segment is read and compressed while the previous one is sent. If this fails, the error
    // is thrown where `pending` is awaited.
    next.catch(() => {})
    if (pending !== null) yield* filesOf(await pending, segments, hashes)
    pending = next
    onProgress(range.first - 1, last)
    await new Promise(setImmediate)
  }
  if (pending !== null) yield* filesOf(await pending, segments, hashes)
  onProgress(last, last)
  const events = segments.reduce((sum, segment) => sum + segment.events, 0)
  // If positions have no gaps, the position of the last event is the tree size, even if an event
  // was removed.
  const size = arePositionsDense ? last : before.size + events
  const isPart = to !== undefined && size > 0
  const [within, later] = split(sealed.signedCheckpoints, isPart ? size : null)
  const manifest: Manifest = {
    format: EXPORT_FORMAT,
    version: EXPORT_VERSION,
    exportedAt: exportedAt.toISOString(),
    first: segments[0]?.first ?? 0,
    last: segments.at(-1)?.last ?? 0,
    events,
    segments,
    treeBefore: before,
    ...sealed,
    signedCheckpoints: within,
    ...(await continuationOf(size, later, consistencyProof)),
    arePositionsDense,
  }
  yield { name: MANIFEST_FILE, bytes: Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`) }
}

type Packed = { readonly segment: Segment; readonly bytes: Buffer | null }

type SealedHashes = Pick<ExportedTree, 'leafHashes'> & {
  readonly sizeBefore: number
  readonly arePositionsDense: boolean
}

/**
 * Yields a segment and the sealed leaf hashes of its events. If an event is changed later, the
 * hashes show which one.
 */
async function* filesOf(
  packed: Packed | null,
  segments: Segment[],
  { sizeBefore, leafHashes, arePositionsDense }: SealedHashes,
): AsyncGenerator<ExportFile> {
  if (packed === null) return
  const { segment, bytes } = packed
  const { first, last, events } = segment
  // If positions have no gaps, the index of an event's leaf follows from its position, even if
  // other events are missing.
  const [index, count] = arePositionsDense
    ? [first - 1, last - first + 1]
    : [segments.reduce((sum, { events: before }) => sum + before, sizeBefore), events]
  const sealed = (await leafHashes?.(index, count)) ?? []
  const hashes = Buffer.concat(sealed.map((hash) => hash ?? LOST_HASH))
  yield { name: segment.name, bytes }
  if (hashes.length === 0) {
    segments.push(segment)
    return
  }
  const name = sealedName(segment.name)
  const sha256 = createHash('sha256').update(hashes).digest('hex')
  segments.push({ ...segment, sealed: { name, sha256 } })
  yield { name, bytes: hashes }
}

/**
 * Splits signed checkpoints by tree size. Returns all checkpoints of at most `size` events, or all
 * checkpoints if `size` is null. Also returns the first checkpoint of more events, or null if there
 * is none.
 */
function split(
  notes: readonly string[],
  size: number | null,
): readonly [within: readonly string[], later: string | null] {
  if (size === null) return [notes, null]
  const isWithin = (note: string) => sizeOf(note) <= size
  return [notes.filter(isWithin), notes.find((note) => !isWithin(note)) ?? null]
}

/**
 * Returns the tree size of a checkpoint, or 0 for a checkpoint that can't be parsed. Such a
 * checkpoint stays in the export, so that the verification reports it.
 */
const sizeOf = (note: string): number => parseCheckpointOrNull(note)?.size ?? 0

/**
 * Returns the first checkpoint after an exported part of the history, and the consistency proof of
 * this checkpoint. This checkpoint covers the exported events that are newer than the last exported
 * checkpoint. Returns an empty object if there is no such checkpoint or no proof.
 */
async function continuationOf(
  size: number,
  later: string | null,
  consistencyProof: ExportedTree['consistencyProof'],
): Promise<Pick<Manifest, 'continuation'>> {
  if (later === null || consistencyProof === undefined) return {}
  // A damaged log yields no proof. The export then omits it, and the verification reports the
  // events that no checkpoint covers.
  const proof = await consistencyProof(size, sizeOf(later)).catch(() => null)
  if (proof === null) return {}
  const hashes = proof.map((hash) => hash.toString('base64'))
  return { continuation: { signedCheckpoint: later, hashes } }
}

type Range = { readonly first: number; readonly last: number }

async function packed(
  records: RecordReader,
  range: Range,
  findWritten: ExportOptions['findWritten'],
): Promise<Packed | null> {
  const name = segmentName(range.first, range.last)
  const written = records.arePositionsDense ? ((await findWritten?.(name)) ?? null) : null
  if (written !== null) {
    return {
      segment: { name, ...range, events: range.last - range.first + 1, ...written },
      bytes: null,
    }
  }
  const pages: Buffer[] = []
  let events = 0
  for await (const page of pagesOf(records, range)) {
    pages.push(Buffer.from(page.map(lineOf).join('')))
    events += page.length
  }
  if (events === 0) return null
  const bytes = await compress(Buffer.concat(pages), { level: 4 })
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { segment: { name, ...range, events, bytes: bytes.length, sha256 }, bytes }
}

async function* pagesOf(records: RecordReader, { first, last }: Range) {
  for (let after = first - 1; after < last; ) {
    const read = await records.read(after, Math.min(PAGE, last - after))
    const page: readonly StoredRecord[] = read.filter(({ position }) => position <= last)
    if (page.length === 0) return
    yield page
    after = page.at(-1)?.position ?? last
  }
}

/**
 * Returns the tree of the events before `first`. The verifier appends the exported events to this
 * tree.
 */
export async function treeBefore(
  records: RecordReader,
  first: number,
): Promise<Manifest['treeBefore']> {
  const tree = new GrowingTree()
  for await (const page of pagesOf(records, { first: 1, last: first - 1 })) {
    for (const record of page) tree.append(leafHash(record))
  }
  return { size: tree.size, subtrees: tree.frontier().map((hash) => hash.toString('base64')) }
}

const INSTRUCTIONS = `This is an export of the recorded events of a Tallygate site.

Verify it with Node 20 or newer. Nothing needs to be installed, and nothing is sent anywhere:

    node ${VERIFIER_FILE} .

The keys in ${MANIFEST_FILE} come from the site itself. To find out that a history was rewritten
and signed again, compare with something that you received earlier or elsewhere:

    node ${VERIFIER_FILE} . --key KEY             the site's key, as it was published
    node ${VERIFIER_FILE} . --witness KEY         a witness that must have signed; may be repeated
    node ${VERIFIER_FILE} . --earlier FOLDER      an earlier export
    node ${VERIFIER_FILE} . --earlier FILE        signed checkpoints, from the site or a witness

An export that was interrupted is continued with --from and the position after its last segment.
`
