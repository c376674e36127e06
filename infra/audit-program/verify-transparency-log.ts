import type { VerificationFinished } from '#domain/audit/events.ts'
import { countHistoryFindings, type Findings } from '#domain/audit/findings.ts'
import type { Core } from '../core-dependencies.ts'
import { isUnavailable } from '../postgres/query-timeouts.ts'
import {
  compareEventsWithLog,
  type LogFinding,
  type LogPart,
} from '../transparency-log/compare-events-with-log.ts'
import {
  type CheckpointPlace,
  type DifferingCheckpoints,
  DifferingRanges,
} from '../transparency-log/join-findings-to-ranges.ts'
import { leafReader } from '../transparency-log/leaf-hashes.ts'
import { TILE_WIDTH, type TileTree } from '../transparency-log/merkle-tree.ts'
import { MissingHash, storedTree } from '../transparency-log/read-checkpoints-and-tiles.ts'
import type { GrowingTree } from './append-only-merkle-tree.ts'
import type { SealedLog } from './open-sealed-log.ts'
import { SEALED_WITHIN_MS } from './signature-coverage.ts'
import { parseSignedCheckpoint, type SignedCheckpoint } from './signed-checkpoint.ts'
import { eventOf, type StoredRecord } from './stored-record.ts'
import type { RecordReader } from './stored-record-reader.ts'
import { KeyRing } from './trusted-log-keys.ts'

/** The parsed checkpoints and keys of a log. Malformed checkpoints and keys are left out. */
export type SignedLog = {
  readonly log: SealedLog
  readonly checkpoints: readonly SignedCheckpoint[]
  /**
   * The keys of the log. Null if this process has another key than the log, because no signature
   * can be verified then.
   */
  readonly keys: KeyRing | null
}

/**
 * Parses the checkpoints and keys of a log. Reports the malformed ones. Also reports if this
 * process has another key than the log.
 */
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
    const isThere = size <= log.size
    const expected = { size, root: checkpoint.root, code: 'RotationTreeDiffers', check } as const
    await compareRoot(isThere ? tree : null, expected, null, findings)
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

type ExpectedRoot = {
  readonly check: string
  readonly size: number
  readonly root: Buffer
  /** The code of the finding that is reported if the root of the log at `size` is not `root`. */
  readonly code: 'RotationTreeDiffers' | 'EarlierRootDiffers' | 'VerifiedLogDiffers'
}

/**
 * Compares the root of the log at `size` with `root`. `tree` is null if the log is smaller than
 * `size`. A lost tile has its own finding and is not reported as a different root, because the
 * operator can rebuild a lost tile from the events.
 */
async function compareRoot(
  tree: TileTree | null,
  { check, size, root, code }: ExpectedRoot,
  record: StoredRecord | null,
  findings: Findings,
): Promise<void> {
  let found: Buffer | null = null
  try {
    found = tree === null ? null : await tree.root(size)
  } catch (error) {
    if (!(error instanceof MissingHash)) throw error
    const { tile } = error
    findings.expect(check, false, record, 'RootTileMissing', () => ({ size, tile }))
    return
  }
  findings.expect(check, found?.equals(root) === true, record, code, () => ({ size }))
}

/**
 * The result of reading the events, which is compared with the log. `roots` are the root hashes of
 * the tree over the events, at the sizes of the signed checkpoints.
 */
export type Seal = {
  readonly roots: Map<number, { readonly root: Buffer; readonly position: number }>
  size: number
  /**
   * The size of the tree with which the verification began, and the position of the last event of
   * this tree.
   */
  readonly start: CheckpointPlace
  /**
   * The events in which earlier verifications recorded their results. Each result contains a root
   * hash, or null if nothing was sealed.
   */
  readonly anchors: StoredRecord[]
  /** The first event that is not in the transparency log yet, or null if all are. */
  unsealed: StoredRecord | null
}

/**
 * Reports events that should be sealed by now. The last event may be at most `SEALED_WITHIN_MS`
 * newer than the first unsealed event.
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

/**
 * Verifies the signatures of the checkpoints, and compares them with the tree over the events.
 * Successive checkpoints that differ are one finding, which names the range of the changed events.
 */
export function verifySignedCheckpoints(
  { checkpoints, keys }: SignedLog,
  { roots, start }: Seal,
  findings: Findings,
): void {
  const ranges = new DifferingRanges(start)
  const report = (params: DifferingCheckpoints | null) => {
    if (params === null) return
    findings.report('signed-checkpoints', null, 'EventsDifferFromCheckpoints', params)
  }
  for (const checkpoint of checkpoints) {
    const { size } = checkpoint
    if (size < start.size) continue
    const fault = keys?.signatureFault(checkpoint) ?? null
    findings.expectNone('signed-checkpoints', null, fault)
    const noted = roots.get(size)
    if (noted === undefined) continue
    findings.checked('signed-checkpoints')
    report(ranges.add({ size, position: noted.position }, noted.root.equals(checkpoint.root)))
  }
  report(ranges.end())
}

/**
 * Compares the log with the root hashes that earlier verifications recorded as events.
 * Verifications that found something in the history are skipped. The comparison detects a log that
 * was emptied and started again.
 */
export async function compareEarlierRoots(
  { pg }: Core,
  log: SealedLog | null,
  { anchors }: Seal,
  findings: Findings,
): Promise<void> {
  for (const record of anchors) {
    try {
      await compareEarlierRoot(pg, log, record, findings)
    } catch (error) {
      if (isUnavailable(error)) throw error
      // A damaged event must not prevent the report about all others.
      findings.reportError('transparency-log', record, error)
    }
  }
}

async function compareEarlierRoot(
  pg: Core['pg'],
  log: SealedLog | null,
  record: StoredRecord,
  findings: Findings,
): Promise<void> {
  const earlier = eventOf(record).data as VerificationFinished['data']
  const { root, treeSize } = earlier
  if (root === null || countHistoryFindings(earlier) > 0) return
  const isThere = log !== null && treeSize <= log.size
  const expected = {
    ...({ check: 'transparency-log', code: 'EarlierRootDiffers', size: treeSize } as const),
    root: Buffer.from(root, 'base64'),
  }
  await compareRoot(isThere ? storedTree(pg) : null, expected, record, findings)
}

/** Compares the log's stored hashes with each other and with all signed checkpoints. */
export async function compareStoredLog(
  { pg }: Core,
  { log, keys }: SignedLog,
  findings: Findings,
  signal: AbortSignal | undefined,
): Promise<void> {
  findings.checked('signed-checkpoints', log.signedCheckpoints.length)
  // Leaves are not read here, because they were compared with the events while the events were
  // read.
  const comparing = { pg, readLeaves: null, keys, arePositionsDense: true, signal }
  for await (const finding of compareEventsWithLog(comparing)) report(finding, null, findings)
}

/**
 * The minimum number of tiles whose events each incremental verification compares. A tile has 256
 * events.
 */
const TILES_MIN = 4_096
/**
 * After this many incremental verifications, the events of every tile have been compared at least
 * once with their recorded hashes.
 */
const VERIFICATIONS_PER_CYCLE = 6

export type EarlierEvents = {
  readonly records: RecordReader
  /** The tree of the events that earlier verifications read. */
  readonly tree: GrowingTree
  /** The index of the first tile to compare. */
  readonly nextTile: number
  readonly onProgress: (stage: string, done: number, total: number) => void
  readonly signal: AbortSignal | undefined
}

/**
 * Compares events with their sealed leaf hashes. The events are those that an earlier verification
 * has read. If there are at most about a million of these events, all of them are compared. If
 * there are more, each verification compares the next sixth of them, but at least a million. If the
 * events are in Postgres, Postgres computes the hashes, so that this process uses little CPU. Also
 * compares the log with the tree of the earlier verification. Returns the index of the tile with
 * which the next verification begins.
 */
export async function compareEarlierEvents(
  core: Core,
  { log, keys }: SignedLog,
  { records, tree, nextTile, onProgress, signal }: EarlierEvents,
  findings: Findings,
): Promise<number> {
  if (log.size >= tree.size) {
    const expected = {
      ...({ check: 'transparency-log', code: 'VerifiedLogDiffers' } as const),
      ...{ size: tree.size, root: tree.root() },
    }
    await compareRoot(storedTree(core.pg), expected, null, findings)
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
 * Returns the changed event that a finding is about, so that the report can name its stream and
 * revision. Returns null for other findings, if there are already many findings, or if no event has
 * this position.
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
