import { setImmediate as nextTurn } from 'node:timers/promises'
import { applyToAudit, finishAudit } from '#domain/audit/audit.ts'
import type { VerificationFinished, VerificationMode } from '#domain/audit/events.ts'
import { Findings } from '#domain/audit/findings.ts'
import { initialAudit } from '#domain/audit/state.ts'
import { PROJECTIONS } from '#projections/projection-registry.ts'
import { foldContext } from '#projections/runner/start-projections.ts'
import { verifyReadModels } from '#projections/runner/verify-read-model.ts'
import type { Core } from '../core-dependencies.ts'
import { compareEventsWithLog } from '../transparency-log/compare-events-with-log.ts'
import { storedTree } from '../transparency-log/read-log.ts'
import { compareBalances } from './compare-balances.ts'
import { GrowingTree } from './growing-tree.ts'
import type { RecordReader } from './read-records.ts'
import { openSealedLog, recordsOf, type SealedLog } from './sealed-tree.ts'
import { isSignedBy, parseSignedCheckpoint, parseVerifierKey } from './signed-checkpoint.ts'
import { readVerified, type Verified, writeVerified } from './stored-audit-state.ts'
import { eventOf, leafHash, type StoredRecord } from './stored-record.ts'

/** Small pages, so that the process answers requests in between. */
const PAGE = 500

export type VerifySiteOptions = {
  readonly mode: VerificationMode
  /** The time since which the site has been running, in unix milliseconds. */
  readonly runningSince: number
  readonly onProgress?: (stage: string, done: number, total: number) => void
  readonly signal?: AbortSignal
}

export type SiteVerification = {
  readonly mode: VerificationMode
  readonly fromPosition: number
  readonly toPosition: number
  /** The root of the sealed tree at `treeSize`, in base64, or null if nothing is sealed. */
  readonly root: string | null
  readonly treeSize: number
  readonly findings: Findings
}

/**
 * Verifies the recorded events, the transparency log and the balances. A full verification reads
 * all events and also compares every read model with a new fold. An incremental one continues after
 * the last verification without findings, and becomes a full one if there is none.
 */
export async function verifySite(
  core: Core,
  options: VerifySiteOptions,
): Promise<SiteVerification> {
  const { mode: requested, runningSince } = options
  const records = recordsOf(core)
  const earlier = requested === 'incremental' ? await readVerified(core) : null
  const { arePositionsDense } = records
  const verified: Verified = earlier ?? {
    state: initialAudit({ arePositionsDense }),
    tree: new GrowingTree(),
  }
  const fromPosition = verified.state.position
  const findings = new Findings()
  const log = await openSealedLog(core)
  const head = await records.head()
  const seal = await verifyRecords(core, records, verified, { log, head, findings, options })
  const { state } = verified
  if (log !== null) verifySignedCheckpoints(log, seal, findings)
  await compareEarlierRoots(core, log, seal, findings)
  finishAudit(state, findings, { runningSince })
  await compareBalances(core, state, findings)
  const mode = earlier === null ? 'full' : 'incremental'
  if (mode === 'full') {
    if (log !== null) await compareStoredLog(core, log, findings)
    await compareReadModels(core, findings, options)
  }
  if (findings.total() === 0) await writeVerified(core, verified)
  const root = log === null ? null : (seal.roots.get(seal.size)?.toString('base64') ?? null)
  return { mode, fromPosition, toPosition: state.position, root, treeSize: seal.size, findings }
}

/** The roots of the tree at the sizes of the signed checkpoints. */
type Seal = {
  readonly roots: Map<number, Buffer>
  size: number
  readonly startedAt: number
  /** The records of earlier verifications, which name the root that they found. */
  readonly anchors: StoredRecord[]
}

type Verifying = {
  readonly log: SealedLog | null
  readonly head: number
  readonly findings: Findings
  readonly options: VerifySiteOptions
}

async function verifyRecords(
  core: Core,
  records: RecordReader,
  { state, tree }: Verified,
  { log, head, findings, options: { onProgress = () => {}, signal } }: Verifying,
): Promise<Seal> {
  const sizes = new Set(log?.signedCheckpoints.map((note) => parseSignedCheckpoint(note).size))
  const seal: Seal = { roots: new Map(), size: 0, startedAt: tree.size, anchors: [] }
  const begin = state.position
  const noteRoot = () => {
    if (!sizes.has(tree.size)) return
    seal.roots.set(tree.size, tree.root())
    seal.size = tree.size
  }
  noteRoot()
  while (state.position < head) {
    signal?.throwIfAborted()
    const page = await records.read(state.position, PAGE)
    const within = page.filter(({ position }) => position <= head)
    if (within.length === 0) break
    // With dense positions, the place of an event in the tree is known even if others are missing.
    const placeOf = (record: StoredRecord, index: number) =>
      state.arePositionsDense ? record.position - 1 : index
    const first = placeOf(within[0] as StoredRecord, tree.size)
    const sealed = (await log?.leafHashes(first, PAGE)) ?? []
    for (const record of within) {
      const hash = leafHash(record)
      compareLeaf(hash, sealed[placeOf(record, tree.size) - first], record, findings)
      tree.append(hash)
      noteRoot()
      applyRecord(state, record, findings)
      if (record.type === 'VerificationFinished') seal.anchors.push(record)
    }
    onProgress('events', state.position - begin, head - begin)
    await nextTurn()
  }
  await verifyEnd(core, state, head, log, tree.size, findings)
  return seal
}

function compareLeaf(
  hash: Buffer,
  sealed: Buffer | undefined,
  record: StoredRecord,
  findings: Findings,
): void {
  if (sealed === undefined) return
  const detail = () => 'the stored event differs from the one that was sealed at this place'
  findings.expect('transparency-log', hash.equals(sealed), record, detail)
}

function applyRecord(state: Verified['state'], record: StoredRecord, findings: Findings): void {
  try {
    applyToAudit(state, eventOf(record), findings)
  } catch (error) {
    findings.report('records', record, (error as Error).message)
    state.position = record.position
  }
}

/** Reports events that are missing at the end, by the store's own counts and by the log's. */
async function verifyEnd(
  core: Core,
  state: Verified['state'],
  head: number,
  log: SealedLog | null,
  treeSize: number,
  findings: Findings,
): Promise<void> {
  findings.expect('positions', state.position >= head, null, () => {
    return `the store names ${head} as its last position, but the last event is ${state.position}`
  })
  if (log !== null) {
    findings.expect('transparency-log', log.size <= treeSize, null, () => {
      return `${log.size} events were sealed, but only ${treeSize} are here`
    })
  }
  if (core.config.eventStore.url !== null) return
  const { rows } = await core.pg.query<{ stream: string; revision: string }>(
    `select s.stream, s.revision from event_store.streams s where not exists (
       select from event_store.events e where e.stream = s.stream and e.revision = s.revision)
     limit 1000`,
  )
  findings.checked('revisions')
  for (const { stream, revision } of rows) {
    findings.report('revisions', { stream }, `its last revision ${revision} is missing`)
  }
}

function verifySignedCheckpoints(
  { signedCheckpoints, keys }: SealedLog,
  { roots, startedAt }: Seal,
  findings: Findings,
): void {
  const trusted = keys.map(parseVerifierKey)
  for (const note of signedCheckpoints) {
    const checkpoint = parseSignedCheckpoint(note)
    const { size } = checkpoint
    if (size < startedAt) continue
    const isSigned = trusted.some((key) => isSignedBy(checkpoint, key))
    const unsigned = () => `the checkpoint of size ${size} is not signed with the key of this site`
    findings.expect('signed-checkpoints', isSigned, null, unsigned)
    const root = roots.get(size)
    if (root === undefined) continue
    const isEqual = root.equals(checkpoint.root)
    const detail = () => `the first ${size} events differ from the checkpoint of that size`
    findings.expect('signed-checkpoints', isEqual, null, detail)
  }
}

/**
 * Compares the roots that earlier verifications without findings recorded as events with those of
 * the log. A log that was emptied and begun again is thus noticed.
 */
async function compareEarlierRoots(
  { pg }: Core,
  log: SealedLog | null,
  { anchors }: Seal,
  findings: Findings,
): Promise<void> {
  const tree = storedTree(pg)
  for (const record of anchors) {
    const { root, treeSize, findingCount } = finished(record)
    if (root === null || findingCount > 0) continue
    const isThere = log !== null && treeSize <= log.size
    const found = isThere ? await tree.root(treeSize).catch(() => null) : null
    findings.expect('transparency-log', found?.toString('base64') === root, record, () => {
      return `this verification had found another log of ${treeSize} events`
    })
  }
}

const finished = (record: StoredRecord) => eventOf(record).data as VerificationFinished['data']

/** Compares the stored hashes of the log with each other and with all signed checkpoints. */
async function compareStoredLog(
  core: Core,
  { keys: [key], keyError, signedCheckpoints }: SealedLog,
  findings: Findings,
): Promise<void> {
  findings.expect('signed-checkpoints', keyError === null, null, () => String(keyError))
  if (key === undefined) return
  findings.checked('signed-checkpoints', signedCheckpoints.length)
  // The events were compared with the leaves of the log while they were read.
  const comparing = { pg: core.pg, readLeaves: null, key: parseVerifierKey(key) }
  for await (const { kind, position, detail } of compareEventsWithLog(comparing)) {
    const check = kind.startsWith('checkpoint-') ? 'signed-checkpoints' : 'transparency-log'
    findings.report(check, null, `${detail} (at position ${position})`)
  }
}

async function compareReadModels(
  core: Core,
  findings: Findings,
  { onProgress = () => {}, signal }: VerifySiteOptions,
): Promise<void> {
  const results = await verifyReadModels(core, PROJECTIONS, foldContext(core), {
    onProgress: (done, total) => onProgress('read-models', done, total),
    ...(signal === undefined ? {} : { signal }),
  })
  for (const { name, isEqual, found, expected } of results) {
    findings.expect('read-models', isEqual, null, () => {
      const tables = differing(found, expected).join(', ')
      return `${name} differs from a new fold of the events: ${tables}. Rebuild it`
    })
  }
}

/** Returns the tables whose hash differs. Both texts list `table:rows:hash`. */
function differing(found: string, expected: string): string[] {
  const others = new Set(expected.split(' '))
  return found
    .split(' ')
    .filter((table) => !others.has(table))
    .map((table) => table.split(':')[0] ?? '')
}
