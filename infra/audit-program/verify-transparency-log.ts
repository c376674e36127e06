import type { VerificationFinished } from '#domain/audit/events.ts'
import { countHistoryFindings, type Findings } from '#domain/audit/findings.ts'
import type { Core } from '../core-dependencies.ts'
import {
  compareEventsWithLog,
  type LogFinding,
  type LogPart,
} from '../transparency-log/compare-events-with-log.ts'
import { leafReader } from '../transparency-log/leaf-hashes.ts'
import { TILE_WIDTH } from '../transparency-log/merkle-tree.ts'
import { storedTree } from '../transparency-log/read-checkpoints-and-tiles.ts'
import type { GrowingTree } from './append-only-merkle-tree.ts'
import type { SealedLog } from './open-sealed-log.ts'
import { SEALED_WITHIN_MS } from './signature-coverage.ts'
import { parseSignedCheckpoint, type SignedCheckpoint } from './signed-checkpoint.ts'
import { eventOf, type StoredRecord } from './stored-record.ts'
import type { RecordReader } from './stored-record-reader.ts'
import { KeyRing } from './trusted-log-keys.ts'

/** The checkpoints and keys of a log. Malformed ones are left out. */
export type SignedLog = {
  readonly log: SealedLog
  readonly checkpoints: readonly SignedCheckpoint[]
  /** Null if this process has another key than the log, so that no signature can be verified. */
  readonly keys: KeyRing | null
}

/** Reads the checkpoints and keys of a log. Reports those that are malformed, and a wrong key. */
export async function readSignedLog(
  { pg }: Core,
  log: SealedLog,
  findings: Findings,
): Promise<SignedLog> {
  const check = 'signed-checkpoints'
  const { keyError } = log
  const code = keyError?.isRetired === true ? 'LogKeyRetired' : 'LogKeyDiffers'
  findings.expect(check, keyError === null, null, code)
  const keys = keyError === null ? new KeyRing(log.keys, log.keyRotations) : null
  for (const fault of keys?.faults ?? []) findings.reportCoded(check, null, fault)
  const tree = storedTree(pg)
  for (const { size, checkpoint } of keys?.rotations ?? []) {
    const root = await tree.root(size).catch(() => null)
    const isEqual = root?.equals(checkpoint.root) === true
    findings.expect(check, isEqual, null, 'RotationTreeDiffers', () => ({ size }))
  }
  const checkpoints = log.signedCheckpoints.flatMap((note) => {
    try {
      return [parseSignedCheckpoint(note)]
    } catch (error) {
      findings.reportError(check, null, error)
      return []
    }
  })
  return { log, checkpoints, keys }
}

/** The roots of the tree over the events, at the sizes of the signed checkpoints. */
export type Seal = {
  readonly roots: Map<number, Buffer>
  size: number
  readonly startedAt: number
  /** The events that recorded earlier verifications. Each contains the root that was found. */
  readonly anchors: StoredRecord[]
  /** The first event that is not in the log yet. */
  unsealed: StoredRecord | null
}

/**
 * Reports events that are not sealed, although they are old enough compared with the last event.
 */
export function verifyIsSealed(
  log: SealedLog | null,
  { unsealed }: Seal,
  lastAt: number,
  findings: Findings,
): void {
  const isSealed = unsealed === null || lastAt - unsealed.at <= SEALED_WITHIN_MS
  findings.expect('transparency-log', isSealed, unsealed, 'EventsNotSealed', () => {
    return { size: log?.size ?? 0 }
  })
}

export function verifySignedCheckpoints(
  { checkpoints, keys }: SignedLog,
  { roots, startedAt }: Seal,
  findings: Findings,
): void {
  for (const checkpoint of checkpoints) {
    const { size } = checkpoint
    if (size < startedAt) continue
    const fault = keys?.signatureFault(checkpoint) ?? null
    findings.expectNone('signed-checkpoints', null, fault)
    const root = roots.get(size)
    if (root === undefined) continue
    const isEqual = root.equals(checkpoint.root)
    findings.expect('signed-checkpoints', isEqual, null, 'CheckpointDiffers', () => {
      return { source: 'signed', size }
    })
  }
}

/**
 * Compares the roots that earlier verifications recorded as events with those of the log, unless
 * they had findings about the history. A log that was emptied and begun again is thus noticed.
 */
export async function compareEarlierRoots(
  { pg }: Core,
  log: SealedLog | null,
  { anchors }: Seal,
  findings: Findings,
): Promise<void> {
  const tree = storedTree(pg)
  for (const record of anchors) {
    const earlier = finished(record)
    const { root, treeSize } = earlier
    if (root === null || countHistoryFindings(earlier) > 0) continue
    const isThere = log !== null && treeSize <= log.size
    const found = isThere ? await tree.root(treeSize).catch(() => null) : null
    const isEqual = found?.toString('base64') === root
    findings.expect('transparency-log', isEqual, record, 'EarlierRootDiffers', () => {
      return { size: treeSize }
    })
  }
}

const finished = (record: StoredRecord) => eventOf(record).data as VerificationFinished['data']

/** Compares the stored hashes of the log with each other and with all signed checkpoints. */
export async function compareStoredLog(
  { pg }: Core,
  { log, keys }: SignedLog,
  findings: Findings,
  signal: AbortSignal | undefined,
): Promise<void> {
  findings.checked('signed-checkpoints', log.signedCheckpoints.length)
  // The events were compared with the leaves of the log while they were read.
  const comparing = { pg, readLeaves: null, keys, arePositionsDense: true, signal }
  for await (const finding of compareEventsWithLog(comparing)) report(finding, null, findings)
}

/**
 * The minimum number of tiles whose events each incremental verification compares. A tile has 256
 * events.
 */
const TILES_MIN = 4_096
/** The maximum number of incremental verifications until the events of every tile were compared. */
const VERIFICATIONS_PER_CYCLE = 6

export type EarlierEvents = {
  readonly records: RecordReader
  /** The tree of the events that were verified before. */
  readonly tree: GrowingTree
  /** The first tile to compare. */
  readonly nextTile: number
  readonly onProgress: (stage: string, done: number, total: number) => void
  readonly signal: AbortSignal | undefined
}

/**
 * Compares events that an earlier verification has read with their sealed leaf hashes. Up to about
 * a million events are all compared. Of more events, each verification compares the next sixth.
 * Postgres computes the hashes, so that this process uses little CPU. Also compares the log with
 * the tree of the earlier verification. Returns the tile with which the next verification begins.
 */
export async function compareEarlierEvents(
  core: Core,
  { log, keys }: SignedLog,
  { records, tree, nextTile, onProgress, signal }: EarlierEvents,
  findings: Findings,
): Promise<number> {
  if (log.size >= tree.size) {
    const root = await storedTree(core.pg)
      .root(tree.size)
      .catch(() => null)
    const isEqual = root?.equals(tree.root()) === true
    findings.expect('transparency-log', isEqual, null, 'VerifiedLogDiffers', () => {
      return { size: tree.size }
    })
  }
  const untilLeaf = Math.min(log.size, tree.size)
  const tiles = Math.ceil(untilLeaf / TILE_WIDTH)
  const count = Math.max(TILES_MIN, Math.ceil(tiles / VERIFICATIONS_PER_CYCLE))
  const firstTile = count >= tiles || nextTile >= tiles ? 0 : nextTile
  const untilTile = Math.min(firstTile + count, tiles)
  const part: LogPart = { firstTile, untilLeaf: Math.min(untilLeaf, untilTile * TILE_WIDTH) }
  const total = part.untilLeaf - firstTile * TILE_WIDTH
  findings.checked('transparency-log', total)
  const { arePositionsDense } = records
  const comparing = {
    ...{ pg: core.pg, readLeaves: leafReader(core), keys, arePositionsDense, part, signal },
    onProgress: (leaves: number) => onProgress('earlier-events', Math.min(leaves, total), total),
  }
  for await (const finding of compareEventsWithLog(comparing)) {
    report(finding, await recordAt(records, finding, findings), findings)
  }
  return untilTile < tiles ? untilTile : 0
}

const RECORDS_NAMED_MAX = 100

/**
 * Returns the record at the position of a finding. Its stream and revision are named in the report.
 */
async function recordAt(
  records: RecordReader,
  { kind, position }: LogFinding,
  findings: Findings,
): Promise<StoredRecord | null> {
  if (kind !== 'event-changed') return null
  if (findings.total() > RECORDS_NAMED_MAX) return null
  const [record] = await records.read(position - 1, 1)
  return record?.position === position ? record : null
}

function report(
  { kind, position, ...finding }: LogFinding,
  record: StoredRecord | null,
  findings: Findings,
): void {
  const isOfEvent = kind.startsWith('event-')
  const check = kind.startsWith('checkpoint-') ? 'signed-checkpoints' : 'transparency-log'
  const place = record ?? (isOfEvent ? { position } : null)
  findings.reportCoded(check, place, finding)
}
