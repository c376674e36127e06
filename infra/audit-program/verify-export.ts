import { applyToAudit, finishAudit } from '#domain/audit/apply-events-to-audit.ts'
import type { CheckpointSource } from '#domain/audit/finding-texts/names-in-finding-texts.ts'
import { safeReasonOf } from '#domain/audit/finding-texts.ts'
import { Findings } from '#domain/audit/findings.ts'
import { type AuditState, initialAudit } from '#domain/audit/state.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { isConsistent } from '../transparency-log/merkle-tree.ts'
import { GrowingTree } from './append-only-merkle-tree.ts'
import { compareWithSeal, sealedHashes } from './compare-segment-with-sealed-hashes.ts'
import { MANIFEST_FILE, type Manifest, manifestOf, type Segment } from './export-format.ts'
import type { ExportReader } from './export-reader.ts'
import { segmentLines } from './read-segment-lines.ts'
import { LostTiles } from './report-lost-tiles.ts'
import { Coverage } from './signature-coverage.ts'
import {
  countDifferentKeys,
  countSigners,
  parseSignedCheckpoint,
  parseVerifierKey,
  parseWitnessKey,
  type SignedCheckpoint,
  type VerifierKey,
} from './signed-checkpoint.ts'
import { eventOf, leafHash, recordOf, type StoredRecord } from './stored-record.ts'
import { KeyRing } from './trusted-log-keys.ts'

export type VerifyOptions = {
  /** Trusted keys of the site. If omitted, the keys in the export are used. */
  readonly keys?: readonly string[]
  /** The keys of witnesses. `quorum` of them must have signed, or all if `quorum` is omitted. */
  readonly witnesses?: readonly string[]
  readonly quorum?: number
  /** Signed checkpoints that the caller received earlier or from a witness. */
  readonly earlier?: Iterable<string>
  readonly onProgress?: (position: number, last: number) => void
}

export type VerificationReport = {
  readonly first: number
  readonly last: number
  readonly events: number
  /** The root hash of the tree of all exported events, in base64. */
  readonly root: string
  readonly treeSize: number
  /** The number of events in the largest signed checkpoint that matches the events. */
  readonly sealedSize: number
  readonly findings: Findings
  /** Sentences about what was checked, and about what could not be checked. */
  readonly checked: readonly string[]
  readonly notChecked: readonly string[]
}

/**
 * Verifies an export: its files, the tree over all events, the signed checkpoints, and the rules of
 * the events. Rejects if the manifest is missing or has another format, or if `earlier` has too
 * many checkpoints. Any other fault becomes a finding.
 */
export async function verifyExport(
  reader: ExportReader,
  options: VerifyOptions = {},
): Promise<VerificationReport> {
  const manifest = readManifest(reader)
  const findings = new Findings()
  const checkpoints = new CheckpointChecks(manifest, options, findings)
  const { size, subtrees } = manifest.treeBefore
  const tree = new GrowingTree(
    size,
    subtrees.map((hash) => Buffer.from(hash, 'base64')),
  )
  const { arePositionsDense, first, last } = manifest
  const state = initialAudit({ startedAfter: Math.max(0, first - 1), arePositionsDense })
  checkpoints.compare(tree)
  const lostTiles = new LostTiles(findings, arePositionsDense ? last : size + manifest.events)
  for (const segment of manifest.segments) {
    await verifySegment(reader, segment, { state, tree, checkpoints, findings, lostTiles })
    options.onProgress?.(segment.last, last)
  }
  lostTiles.report()
  finishAudit(state, findings)
  checkpoints.finish(tree, state.lastAt, manifest)
  const events = tree.size - size
  findings.expect('export', events === manifest.events, null, 'ExportEventsDiffer', () => {
    return { named: manifest.events, events }
  })
  return {
    ...{ first, last, events, findings },
    root: tree.root().toString('base64'),
    treeSize: tree.size,
    sealedSize: checkpoints.signed.size,
    ...statements(manifest, checkpoints, options),
  }
}

type VerificationRun = {
  readonly state: AuditState
  readonly tree: GrowingTree
  readonly checkpoints: CheckpointChecks
  readonly findings: Findings
  readonly lostTiles: LostTiles
}

async function verifySegment(
  reader: ExportReader,
  segment: Segment,
  run: VerificationRun,
): Promise<void> {
  const { state, tree, checkpoints, findings, lostTiles } = run
  const { name: file } = segment
  const lines = segmentLines(reader, segment, findings)
  const sealed = sealedHashes(reader, segment, findings)
  let events = 0
  for await (const line of lines) {
    events += 1
    try {
      const record = recordOf(line)
      const hash = leafHash(record)
      const index = state.arePositionsDense ? record.position - segment.first : events - 1
      const leaf = state.arePositionsDense ? record.position - 1 : tree.size
      compareWithSeal({ hash, record, index, leaf }, sealed, lostTiles, findings)
      tree.append(hash)
      checkpoints.append(record)
      checkpoints.compare(tree)
      const isInside = record.position >= segment.first && record.position <= segment.last
      if (!isInside) findings.report('export', record, 'EventOutsideFile', { file })
      applyToAudit(state, eventOf(record), findings)
    } catch (error) {
      const params = { file, line: events, reason: safeReasonOf(error) }
      findings.report('records', null, 'LineUnreadable', params)
    }
  }
  findings.expect('export', events === segment.events, null, 'FileEventsDiffer', () => {
    return { file, events, named: segment.events }
  })
}

/** Reads the manifest without verifying the export. Throws if there is no valid manifest. */
export function readManifest(reader: ExportReader): Manifest {
  const text = reader.read(MANIFEST_FILE)
  if (text === null) {
    throw new Error(`there is no ${MANIFEST_FILE}: the export is incomplete, continue it first`)
  }
  return manifestOf(text.toString())
}

/** Yields the events of one stream in an export, without verifying the export. */
export async function* exportedEvents(
  reader: ExportReader,
  { segments }: Pick<Manifest, 'segments'>,
  stream: string,
): AsyncGenerator<Recorded> {
  const mark = `"stream":${JSON.stringify(stream)},`
  const unread = new Findings()
  for (const segment of segments) {
    for await (const line of segmentLines(reader, segment, unread)) {
      if (line.includes(mark)) yield eventOf(recordOf(line))
    }
    const [finding] = unread.list()
    if (finding !== undefined) throw new Error(finding.detail)
  }
}

/**
 * A root hash of one tree size, and the number of checkpoints with this hash by source. Most
 * checkpoints that the caller passes are also in the export and need no additional memory. A key
 * rotation after the last exported event is not compared, because its tree is not exported.
 */
type Expected = {
  readonly root: Buffer
  readonly counts: Map<CheckpointSource, number>
  isSigned: boolean
  isWitnessed: boolean
}

/** The maximum number of passed checkpoints that the export lacks. They take about 500 MB. */
const OTHER_CHECKPOINTS_MAX = 2_000_000

/** Compares the growing tree with each signed checkpoint of the tree's current size. */
class CheckpointChecks {
  /** The coverage by signatures of the site (`signed`) and of enough witnesses (`witnessed`). */
  readonly signed = new Coverage()
  readonly witnessed = new Coverage()
  /** `all`: the number of compared checkpoints. `earlier`: those of them that the caller passed. */
  readonly compared = { all: 0, earlier: 0 }
  /** The number of all checkpoints, compared or not, that one of `witnesses` has signed. */
  cosigned = 0
  readonly witnesses: readonly VerifierKey[]
  private readonly quorum: number | null
  /** The number of earlier checkpoints that the caller passed. */
  given = 0
  private others = 0
  private readonly bySize = new Map<number, Expected[]>()
  private readonly findings: Findings
  private readonly keyRing: KeyRing

  constructor(manifest: Manifest, options: VerifyOptions, findings: Findings) {
    this.findings = findings
    this.keyRing = this.keyRingOf(options.keys ?? manifest.keys, manifest.keyRotations ?? [])
    this.witnesses = this.validWitnesses(options.witnesses ?? manifest.witnessKeys)
    const given = options.witnesses?.length ?? 0
    // Malformed keys stay required. They are reported, and must not lower the number of required
    // signatures.
    const repeated = this.witnesses.length - countDifferentKeys(this.witnesses)
    const required = options.quorum ?? given - (given === 0 ? 0 : repeated)
    this.quorum = required > 0 ? required : null
    for (const note of manifest.signedCheckpoints) this.add(note, 'signed')
    for (const note of options.earlier ?? []) {
      this.given += 1
      this.add(note, 'earlier')
    }
  }

  append(record: StoredRecord): void {
    this.signed.append(record)
    this.witnessed.append(record)
  }

  /** Compares the tree with the checkpoints of its size, if there are any. */
  compare(tree: GrowingTree): void {
    const { size } = tree
    const expected = this.bySize.get(size)
    if (expected === undefined) return
    this.bySize.delete(size)
    for (const { root, counts, isSigned, isWitnessed } of expected) {
      const isEqual = root.equals(tree.root())
      for (const [source, count] of counts) {
        this.findings.checked('signed-checkpoints', count)
        if (!isEqual) this.reportDifference(source, size)
        if (source !== 'rotation') this.compared.all += count
        if (source === 'earlier') this.compared.earlier += count
      }
      if (isEqual && isSigned) this.cover(size, isWitnessed)
    }
  }

  private reportDifference(source: CheckpointSource, size: number): void {
    const { size: agreed } = this.signed
    const check = 'signed-checkpoints'
    if (agreed === 0) this.findings.report(check, null, 'CheckpointDiffers', { source, size })
    else this.findings.report(check, null, 'CheckpointDiffersAfter', { source, size, agreed })
  }

  /** Reports checkpoints that cover missing events, and events that no checkpoint covers. */
  finish(tree: GrowingTree, lastAt: number, { continuation }: Manifest): void {
    for (const [size, expected] of this.bySize) {
      if (size < tree.size) continue
      for (const source of new Set(expected.flatMap(({ counts }) => [...counts.keys()]))) {
        if (source === 'rotation') continue
        const params = { source, size, events: tree.size }
        this.findings.report('signed-checkpoints', null, 'CheckpointEventsMissing', params)
      }
    }
    if (continuation !== undefined) this.continueTo(tree, continuation)
    this.signed.finish(this.findings, lastAt, null)
    if (this.quorum !== null) this.witnessed.finish(this.findings, lastAt, this.quorum)
  }

  /**
   * Compares the tree with the next checkpoint after the exported events. The export does not have
   * the later events, only a proof that their tree begins with the exported tree.
   */
  private continueTo(tree: GrowingTree, continuation: NonNullable<Manifest['continuation']>): void {
    const checkpoint = this.parsed(continuation.signedCheckpoint, 'next')
    if (checkpoint === null) return
    const { isSigned, isWitnessed } = this.signaturesOf(checkpoint, 'next')
    const hashes = continuation.hashes.map((hash) => Buffer.from(hash, 'base64'))
    const isEqual = isConsistent({ size: tree.size, root: tree.root() }, checkpoint, hashes)
    const isNext = isSigned && isEqual
    this.findings.expect('signed-checkpoints', isNext, null, 'NextCheckpointDiffers', () => {
      return { size: tree.size }
    })
    if (isNext) this.cover(tree.size, isWitnessed)
  }

  private cover(size: number, isWitnessed: boolean): void {
    this.signed.cover(size)
    if (isWitnessed) this.witnessed.cover(size)
  }

  private signaturesOf(checkpoint: SignedCheckpoint, source: CheckpointSource) {
    const count = countSigners(checkpoint, this.witnesses)
    if (count > 0) this.cosigned += 1
    const fault = this.keyRing.signatureFault(checkpoint, source)
    return { fault, isSigned: fault === null, isWitnessed: count >= (this.quorum ?? 1) }
  }

  private add(note: string, source: CheckpointSource): void {
    const checkpoint = this.parsed(note, source)
    if (checkpoint === null) return
    const { size, root } = checkpoint
    const { fault, ...signatures } = this.signaturesOf(checkpoint, source)
    this.findings.expectNone('signed-checkpoints', null, fault)
    this.expectAt(size, root, source, signatures)
  }

  private keyRingOf(keys: readonly string[], rotations: readonly string[]): KeyRing {
    const ring = new KeyRing(this.validKeys(keys), rotations)
    this.findings.checked('signed-checkpoints', ring.rotations.length)
    for (const fault of ring.faults) this.findings.reportCoded('signed-checkpoints', null, fault)
    for (const { size, checkpoint } of ring.rotations) {
      this.expectAt(size, checkpoint.root, 'rotation', { isSigned: true, isWitnessed: false })
    }
    return ring
  }

  private expectAt(
    size: number,
    root: Buffer,
    source: CheckpointSource,
    { isSigned, isWitnessed }: Pick<Expected, 'isSigned' | 'isWitnessed'>,
  ): void {
    const expected = this.bySize.get(size) ?? []
    const known = expected.find((one) => one.root.equals(root))
    if (known !== undefined) {
      known.counts.set(source, (known.counts.get(source) ?? 0) + 1)
      known.isWitnessed ||= isSigned && isWitnessed
      known.isSigned ||= isSigned
      return
    }
    if (source === 'earlier') this.others += 1
    if (this.others > OTHER_CHECKPOINTS_MAX) {
      const max = OTHER_CHECKPOINTS_MAX
      throw new Error(`--earlier has more than ${max} checkpoints that the export does not have`)
    }
    const counts = new Map([[source, 1]])
    const own = { isSigned, isWitnessed: isSigned && isWitnessed }
    this.bySize.set(size, [...expected, { root, counts, ...own }])
  }

  private parsed(note: string, source: CheckpointSource): SignedCheckpoint | null {
    try {
      return parseSignedCheckpoint(note, source)
    } catch (error) {
      this.findings.reportError('signed-checkpoints', null, error)
      return null
    }
  }

  /** Returns the well-formed keys, and reports the malformed ones. */
  private validKeys(texts: readonly string[]): string[] {
    return texts.filter((text) => this.parsedKey(text, parseVerifierKey) !== null)
  }

  /**
   * Returns the keys of witnesses. Reports malformed keys, keys that are not of a witness, and keys
   * of the site. A signature of the site itself confirms only what the site already claims.
   */
  private validWitnesses(texts: readonly string[]): VerifierKey[] {
    return texts.flatMap((text) => {
      const key = this.parsedKey(text, parseWitnessKey)
      if (key === null || !this.keyRing.isKeyOfSite(key)) return key ?? []
      this.findings.report('signed-checkpoints', null, 'WitnessKeyOfSite', { name: key.name })
      return []
    })
  }

  private parsedKey(text: string, parse: (text: string) => VerifierKey): VerifierKey | null {
    try {
      return parse(text)
    } catch (error) {
      this.findings.reportError('signed-checkpoints', null, error)
      return null
    }
  }
}

function statements(
  manifest: Manifest,
  { signed, witnessed, compared, cosigned, witnesses, given }: CheckpointChecks,
  { keys, witnesses: named }: VerifyOptions,
): Pick<VerificationReport, 'checked' | 'notChecked'> {
  const { first, last } = manifest
  const checked = [
    `Each file against the manifest, and each rule of the events from ${first} to ${last}.`,
    `The tree over these events against ${compared.all - compared.earlier} signed checkpoints.`,
  ]
  if (cosigned > 0) checked.push(`${cosigned} checkpoints are signed by a witness as well.`)
  if (compared.earlier > 0) checked.push(`${compared.earlier} checkpoints that you gave.`)
  const notChecked = ['That the counts of the providers are true. Only their invoices can show it.']
  const size = manifest.treeBefore.size + manifest.events
  const without = (count: number, what: string) => {
    if (count > 0) notChecked.push(`The last ${count} events are ${what} yet.`)
  }
  without(size - signed.size, 'in no signed checkpoint')
  if (named !== undefined) without(size - witnessed.size, 'not signed by the witnesses')
  if (first > 1) notChecked.push(`Rules that need the events before ${first}.`)
  if (keys === undefined) {
    notChecked.push('That the keys are those of the site: they come from the export. Use --key.')
  }
  const unused = given - compared.earlier
  if (given === 0) {
    notChecked.push('That the history is the one you were shown before. Use --earlier.')
  } else if (unused > 0) {
    notChecked.push(`${unused} checkpoints that you gave: they are not of these events.`)
  }
  if (witnesses.length === 0) notChecked.push('Signatures of witnesses: the site names none.')
  else if (named === undefined) {
    notChecked.push('That the witnesses are independent: the export names them. Use --witness.')
  }
  return { checked, notChecked }
}
