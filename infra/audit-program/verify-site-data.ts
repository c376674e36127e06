import { setImmediate as nextTurn } from 'node:timers/promises'
import { forgetProvidedEnds } from '#domain/audit/admitted-calls-and-their-ends.ts'
import { applyToAudit, finishAudit } from '#domain/audit/apply-events-to-audit.ts'
import type { VerificationMode } from '#domain/audit/events.ts'
import { Findings } from '#domain/audit/findings.ts'
import { initialAudit } from '#domain/audit/state.ts'
import type { ProjectionName } from '#projections/projection-names.ts'
import {
  type AheadOfEvents,
  ensureCheckpointTables,
  furthestAhead,
  recordAheadOfEvents,
} from '#projections/runner/read-models-ahead-of-events.ts'
import { verificationErrorText } from '#projections/runner/verification-error-text.ts'
import type { Core } from '../core-dependencies.ts'
import { findChangedSnapshots } from '../event-store/snapshots.ts'
import { isUnavailable } from '../postgres/query-timeouts.ts'
import { GrowingTree } from './append-only-merkle-tree.ts'
import { compareAccountRows } from './compare-account-rows.ts'
import { compareBalances } from './compare-balances.ts'
import { compareReadModels } from './compare-read-models.ts'
import { openSealedLog, recordsOf, type SealedLog } from './open-sealed-log.ts'
import { reportRefusals } from './record-and-report-witness-refusals.ts'
import { LostTiles } from './report-lost-tiles.ts'
import { provideCallEnds } from './reread-ends-of-corrected-calls.ts'
import { readVerified, type Verified, writeVerified } from './state-after-last-verification.ts'
import { eventOf, leafHash, type StoredRecord } from './stored-record.ts'
import type { RecordReader } from './stored-record-reader.ts'
import {
  compareEarlierEvents,
  compareEarlierRoots,
  compareStoredLog,
  readSignedLog,
  type Seal,
  type SignedLog,
  verifyIsSealed,
  verifySignedCheckpoints,
} from './verify-transparency-log.ts'

/**
 * The number of events per page. Pages are small, so that the process can answer requests between
 * two pages.
 */
const PAGE = 500

export type VerifySiteOptions = {
  readonly mode: VerificationMode
  /** The time at which the site started, in Unix milliseconds. */
  readonly runningSince: number
  /**
   * The maximum wait in milliseconds until the read model `balances` reaches the verified events.
   * If the read model has not reached these events by then, the balances are not compared.
   */
  readonly balancesWithinMs?: number
  readonly onProgress?: (stage: string, done: number, total: number) => void
  readonly signal?: AbortSignal
}

export type SiteVerification = {
  readonly mode: VerificationMode
  readonly fromPosition: number
  readonly toPosition: number
  /**
   * The base64 root hash of the sealed tree of the first `treeSize` events, or null if nothing is
   * sealed.
   */
  readonly root: string | null
  readonly treeSize: number
  readonly findings: Findings
}

/**
 * Verifies the recorded events, the transparency log and the balances. A full verification reads
 * all events, and also folds them again to compare every read model. An incremental verification
 * continues from the state of the last verification that found nothing in the history. Without such
 * a state, an incremental verification becomes a full one. An incremental verification compares
 * only a part of the earlier events (all of them on a small site) with their sealed hashes, and
 * only some accounts with a new fold of their events. If a check throws, the error becomes a
 * finding, because one damaged event must not hide all other findings. Throws only if the signal is
 * aborted or the database is unavailable.
 */
export async function verifySite(
  core: Core,
  options: VerifySiteOptions,
): Promise<SiteVerification> {
  const findings = new Findings()
  const reached: Reached = { mode: options.mode, fromPosition: 0, state: null }
  try {
    return await makeChecks(core, options, findings, reached)
  } catch (error) {
    options.signal?.throwIfAborted()
    // A failed database connection says nothing about the data. The next nightly verification
    // checks the data again.
    if (isUnavailable(error)) throw error
    core.log.error({ alarm: 'audit-job-failed', err: error }, 'a verification stopped')
    findings.report('records', null, 'VerificationStopped', {
      reason: verificationErrorText(error),
    })
    const { mode, fromPosition, state } = reached
    const toPosition = state?.position ?? fromPosition
    return { mode, fromPosition, toPosition, root: null, treeSize: 0, findings }
  }
}

/**
 * The mode, the start and the resulting state of a verification. The checks set these fields as
 * they proceed.
 */
type Reached = {
  mode: VerificationMode
  fromPosition: number
  state: Verified['state'] | null
}

async function makeChecks(
  core: Core,
  options: VerifySiteOptions,
  findings: Findings,
  reached: Reached,
): Promise<SiteVerification> {
  const { mode: requested, runningSince } = options
  const records = recordsOf(core)
  const earlier = requested === 'incremental' ? await readVerified(core) : null
  const mode = earlier === null ? 'full' : 'incremental'
  const { arePositionsDense } = records
  const verified: Verified = earlier ?? {
    state: initialAudit({ arePositionsDense, remembers: 'positions' }),
    tree: new GrowingTree(),
    nextTile: 0,
    nextAccount: 0,
  }
  const { state } = verified
  const fromPosition = state.position
  Object.assign(reached, { mode, fromPosition, state })
  const log = await openSealedLog(core)
  const signed = log === null ? null : await readSignedLog(core, log, findings)
  const head = await records.head()
  const isContinued = earlier !== null && signed !== null
  const nextTile = isContinued
    ? await compareEarlier(core, signed, records, earlier, findings, options)
    : 0
  const touched = new Set<string>()
  const verifying = { signed, head, touched, findings, options }
  const seal = await verifyRecords(core, records, verified, verifying)
  if (signed !== null) verifySignedCheckpoints(signed, seal, findings)
  await compareEarlierRoots(core, log, seal, findings)
  await reportRefusals(records, findings)
  finishAudit(state, findings, { runningSince })
  const ahead = await reportAheadOfEvents(core, findings)
  const areCompared =
    ahead.has('balances') ||
    (await compareBalances(core, state, findings, options.balancesWithinMs))
  if (!areCompared) {
    findings.report('read-models', null, 'BalancesNotCompared', { position: state.position })
  }
  let nextAccount = 0
  if (mode === 'incremental') {
    const turn = { ...options, touched, nextAccount: verified.nextAccount }
    nextAccount = await compareAccountRows(core, state, ahead, turn, findings)
  } else {
    if (signed !== null) await compareStoredLog(core, signed, findings, options.signal)
    await compareReadModels(core, ahead, findings, options)
    await compareSnapshots(core, findings, options.signal)
  }
  const next = { nextTile, nextAccount }
  if (findings.historyTotal() === 0) await storeVerified(core, { ...verified, ...next })
  const root = log === null ? null : (seal.roots.get(seal.size)?.root.toString('base64') ?? null)
  return { mode, fromPosition, toPosition: state.position, root, treeSize: seal.size, findings }
}

/**
 * Reports the snapshots of streams that were changed in the database. The site does not use such a
 * snapshot, but the change shows that somebody has tried to manipulate a state on which decisions
 * depend.
 */
async function compareSnapshots(
  core: Core,
  findings: Findings,
  signal: AbortSignal | undefined,
): Promise<void> {
  for await (const { compared, changed } of findChangedSnapshots(core)) {
    signal?.throwIfAborted()
    findings.checked('snapshots', compared)
    for (const stream of changed) findings.report('snapshots', { stream }, 'SnapshotChanged')
  }
}

/**
 * Stores the state from which the next incremental verification continues. A failure is only
 * logged, so that the result of this verification is not lost. The next verification then continues
 * from an older state or reads all events.
 */
async function storeVerified(core: Core, verified: Verified): Promise<void> {
  forgetProvidedEnds(verified.state.remembered)
  try {
    await writeVerified(core, verified)
  } catch (err) {
    const text = 'the state of a verification was not stored, so the next one reads more events'
    core.log.error({ alarm: 'audit-state-not-stored', err }, text)
  }
}

function compareEarlier(
  core: Core,
  signed: SignedLog,
  records: RecordReader,
  { tree, nextTile }: Verified,
  findings: Findings,
  { onProgress = () => {}, signal }: VerifySiteOptions,
): Promise<number> {
  const earlier = { records, tree, nextTile, onProgress, signal }
  return compareEarlierEvents(core, signed, earlier, findings)
}

type VerificationRun = {
  readonly signed: SignedLog | null
  readonly head: number
  /** A set to which the streams of the new events are added. */
  readonly touched: Set<string>
  readonly findings: Findings
  readonly options: VerifySiteOptions
}

async function verifyRecords(
  core: Core,
  records: RecordReader,
  { state, tree }: Verified,
  { signed, head, touched, findings, options: { onProgress = () => {}, signal } }: VerificationRun,
): Promise<Seal> {
  const log = signed?.log ?? null
  const sizes = new Set(signed?.checkpoints.map(({ size }) => size))
  const startedAt = tree.size
  const begin = state.position
  const start = { size: startedAt, position: begin }
  const seal: Seal = { roots: new Map(), size: 0, start, anchors: [], unsealed: null }
  const lostTiles = new LostTiles(findings, log?.size ?? 0)
  const isUnchanged = (end: StoredRecord) => compareReadAgain(log, state, end, findings)
  const noteRoot = (position: number) => {
    if (!sizes.has(tree.size)) return
    seal.roots.set(tree.size, { root: tree.root(), position })
    seal.size = tree.size
  }
  noteRoot(begin)
  while (state.position < head) {
    signal?.throwIfAborted()
    const page = await records.read(state.position, PAGE)
    const within = page.filter(({ position }) => position <= head)
    if (within.length === 0) break
    // If positions have no gaps, the index of an event's leaf follows from its position, even if
    // other events are missing.
    const placeOf = (record: StoredRecord, index: number) =>
      state.arePositionsDense ? record.position - 1 : index
    const first = placeOf(within[0] as StoredRecord, tree.size)
    const sealed = (await log?.leafHashes(first, PAGE)) ?? []
    for (const record of within) {
      touched.add(record.stream)
      const hash = leafHash(record)
      const leaf = placeOf(record, tree.size)
      const sealedHash = sealed[leaf - first]
      if (sealedHash === null) lostTiles.add(leaf)
      else compareLeaf(hash, sealedHash, record, findings)
      if (leaf >= (log?.size ?? 0)) seal.unsealed ??= record
      tree.append(hash)
      noteRoot(record.position)
      await provideCallEnds(records, state.remembered, record, isUnchanged)
      applyRecord(state, record, findings)
      if (record.type === 'VerificationFinished') seal.anchors.push(record)
    }
    onProgress('events', state.position - begin, head - begin)
    await nextTurn()
  }
  lostTiles.report()
  await verifyEnd(core, state, head, log, tree.size, findings)
  verifyIsSealed(log, seal, state.lastAt, findings)
  return seal
}

/** Compares an event with its sealed hash. If they differ, reports the event and returns false. */
function compareLeaf(
  hash: Buffer,
  sealed: Buffer | undefined,
  record: StoredRecord,
  findings: Findings,
): boolean {
  if (sealed === undefined) return true
  const isEqual = hash.equals(sealed)
  findings.expect('transparency-log', isEqual, record, 'EventDiffersFromSeal')
  return isEqual
}

/**
 * Compares an event, which is read a second time, with its sealed hash. Returns false if the event
 * differs from the hash or the hash is lost. The event is not compared if positions have gaps,
 * because its place in the tree is then unknown. An event that is not sealed yet is compared by the
 * next verification. A sealed event whose hash is lost cannot be compared, so it is reported.
 */
async function compareReadAgain(
  log: SealedLog | null,
  { arePositionsDense }: Verified['state'],
  record: StoredRecord,
  findings: Findings,
): Promise<boolean> {
  if (log === null || !arePositionsDense) return true
  if (record.position > log.size) return true
  const [sealed] = await log.leafHashes(record.position - 1, 1)
  if (sealed === undefined || sealed === null) {
    findings.expect('transparency-log', false, record, 'SealedHashMissing')
    return false
  }
  return compareLeaf(leafHash(record), sealed, record, findings)
}

function applyRecord(state: Verified['state'], record: StoredRecord, findings: Findings): void {
  try {
    applyToAudit(state, eventOf(record), findings)
  } catch (error) {
    findings.reportError('records', record, error)
    state.position = record.position
  }
}

/**
 * Reports events that are missing at the end of the history. Such events are noticed because the
 * earlier verification, the log or the store counts more events than were read.
 */
async function verifyEnd(
  core: Core,
  state: Verified['state'],
  head: number,
  log: SealedLog | null,
  treeSize: number,
  findings: Findings,
): Promise<void> {
  const { position: last } = state
  const first = head + 1
  findings.expect('positions', last <= head, { position: first }, 'VerifiedEventsMissing', () => {
    return { first, last }
  })
  findings.expect('positions', last >= head, null, 'LastEventsMissing', () => ({ head, last }))
  if (log !== null) {
    const { size: sealed } = log
    findings.expect('transparency-log', sealed <= treeSize, null, 'SealedEventsMissing', () => {
      return { sealed, events: treeSize }
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
    findings.report('revisions', { stream }, 'LastRevisionMissing', { revision })
  }
}

/**
 * Reports read models that include events which the store does not have. If the end of the history
 * was cut off together with its log, these read models may be the only evidence of the loss. The
 * finding therefore does not recommend a rebuild. Returns the names of these read models.
 */
async function reportAheadOfEvents(
  core: Core,
  findings: Findings,
): Promise<ReadonlySet<ProjectionName>> {
  await ensureCheckpointTables(core.pg)
  const ahead = await recordAheadOfEvents(core)
  const furthest = furthestAhead(ahead)
  findings.expect('read-models', furthest === null, null, 'ReadModelsAhead', () => {
    const readModels = [...ahead.keys()].sort().join(', ')
    return { ...(furthest as AheadOfEvents), readModels }
  })
  return new Set(ahead.keys())
}
