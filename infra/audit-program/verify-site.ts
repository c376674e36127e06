import { setImmediate as nextTurn } from 'node:timers/promises'
import { applyToAudit, finishAudit } from '#domain/audit/apply-events-to-audit.ts'
import type { VerificationMode } from '#domain/audit/events.ts'
import { Findings } from '#domain/audit/findings.ts'
import { forgetProvidedEnds } from '#domain/audit/remembered-calls.ts'
import { initialAudit } from '#domain/audit/state.ts'
import type { ProjectionName } from '#projections/projection-names.ts'
import {
  type AheadOfEvents,
  ensureCheckpointTables,
  furthestAhead,
  recordAheadOfEvents,
} from '#projections/runner/read-models-ahead-of-events.ts'
import type { Core } from '../core-dependencies.ts'
import { GrowingTree } from './append-only-merkle-tree.ts'
import { compareBalances } from './compare-balances.ts'
import { compareReadModels } from './compare-read-models.ts'
import { openSealedLog, recordsOf, type SealedLog } from './open-sealed-log.ts'
import { provideCallEnds } from './provide-call-ends.ts'
import { reportRefusals } from './report-refusals.ts'
import { readVerified, type Verified, writeVerified } from './stored-audit-state.ts'
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
 * the last verification without findings about the history, and becomes a full one if there is
 * none. It compares the events before, or a part of them, with their sealed hashes.
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
    state: initialAudit({ arePositionsDense, remembers: 'positions' }),
    tree: new GrowingTree(),
    nextTile: 0,
  }
  const fromPosition = verified.state.position
  const findings = new Findings()
  const log = await openSealedLog(core)
  const signed = log === null ? null : await readSignedLog(core, log, findings)
  const head = await records.head()
  const isContinued = earlier !== null && signed !== null
  const nextTile = isContinued
    ? await compareEarlier(core, signed, records, earlier, findings, options)
    : 0
  const seal = await verifyRecords(core, records, verified, { signed, head, findings, options })
  const { state } = verified
  if (signed !== null) verifySignedCheckpoints(signed, seal, findings)
  await compareEarlierRoots(core, log, seal, findings)
  await reportRefusals(records, findings)
  finishAudit(state, findings, { runningSince })
  const ahead = await reportAheadOfEvents(core, findings)
  if (!ahead.has('balances')) await compareBalances(core, state, findings)
  const mode = earlier === null ? 'full' : 'incremental'
  if (mode === 'full') {
    if (signed !== null) await compareStoredLog(core, signed, findings, options.signal)
    await compareReadModels(core, ahead, findings, options)
  }
  if (findings.historyTotal() === 0) await storeVerified(core, { ...verified, nextTile })
  const root = log === null ? null : (seal.roots.get(seal.size)?.toString('base64') ?? null)
  return { mode, fromPosition, toPosition: state.position, root, treeSize: seal.size, findings }
}

/**
 * Stores the state for the next verification. The result of this one is known, so it must not be
 * lost if the state cannot be stored: the next one then continues from an earlier state, or reads
 * all events.
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

type Verifying = {
  readonly signed: SignedLog | null
  readonly head: number
  readonly findings: Findings
  readonly options: VerifySiteOptions
}

async function verifyRecords(
  core: Core,
  records: RecordReader,
  { state, tree }: Verified,
  { signed, head, findings, options: { onProgress = () => {}, signal } }: Verifying,
): Promise<Seal> {
  const log = signed?.log ?? null
  const sizes = new Set(signed?.checkpoints.map(({ size }) => size))
  const startedAt = tree.size
  const seal: Seal = { roots: new Map(), size: 0, startedAt, anchors: [], unsealed: null }
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
      if (placeOf(record, tree.size) >= (log?.size ?? 0)) seal.unsealed ??= record
      tree.append(hash)
      noteRoot()
      await provideCallEnds(records, state.remembered, record)
      applyRecord(state, record, findings)
      if (record.type === 'VerificationFinished') seal.anchors.push(record)
    }
    onProgress('events', state.position - begin, head - begin)
    await nextTurn()
  }
  await verifyEnd(core, state, head, log, tree.size, findings)
  verifyIsSealed(log, seal, state.lastAt, findings)
  return seal
}

function compareLeaf(
  hash: Buffer,
  sealed: Buffer | undefined,
  record: StoredRecord,
  findings: Findings,
): void {
  if (sealed === undefined) return
  findings.expect('transparency-log', hash.equals(sealed), record, 'EventDiffersFromSeal')
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
 * Reports events that are missing at the end of the history, by the counts of the store and of the
 * log.
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
 * was cut off together with its log, only the read models may still show it. The finding therefore
 * does not recommend a rebuild.
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
