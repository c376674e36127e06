import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { applyToAudit, finishAudit } from '#domain/audit/audit.ts'
import { Findings } from '#domain/audit/findings.ts'
import { type AuditState, initialAudit } from '#domain/audit/state.ts'
import type { Recorded } from '#domain/shared/event.ts'
import type { Segment } from './export-format.ts'
import { MANIFEST_FILE, type Manifest, manifestOf, SEGMENT_BYTES_MAX } from './export-format.ts'
import type { ExportReader } from './export-reader.ts'
import { GrowingTree } from './growing-tree.ts'
import { KeyRing } from './key-ring.ts'
import {
  isSignedBy,
  parseSignedCheckpoint,
  parseVerifierKey,
  type SignedCheckpoint,
  type VerifierKey,
} from './signed-checkpoint.ts'
import { eventOf, leafHash, recordOf, type StoredRecord } from './stored-record.ts'

export type VerifyOptions = {
  /** Keys of the site that the caller trusts. Without them, the keys of the export are used. */
  readonly keys?: readonly string[]
  /** Signed checkpoints that the caller received earlier or from a witness. */
  readonly earlier?: readonly string[]
  readonly onProgress?: (position: number, last: number) => void
}

export type VerificationReport = {
  readonly first: number
  readonly last: number
  readonly events: number
  /** The root of the tree after the last event, in base64. */
  readonly root: string
  readonly treeSize: number
  /** The size of the largest signed checkpoint that the events give. */
  readonly sealedSize: number
  readonly findings: Findings
  /** What was checked and what was not, as sentences. */
  readonly checked: readonly string[]
  readonly notChecked: readonly string[]
}

/**
 * Verifies an export: its files, the tree over all events, the signed checkpoints, and the rules of
 * the events. Throws if the manifest is missing or of another format. Any other fault is a finding.
 */
export function verifyExport(
  reader: ExportReader,
  options: VerifyOptions = {},
): VerificationReport {
  const text = reader.read(MANIFEST_FILE)
  if (text === null) {
    throw new Error(`there is no ${MANIFEST_FILE}: the export is incomplete, continue it first`)
  }
  const manifest = manifestOf(text.toString())
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
  for (const segment of manifest.segments) {
    verifySegment(reader, segment, { state, tree, checkpoints, findings })
    options.onProgress?.(segment.last, last)
  }
  finishAudit(state, findings)
  checkpoints.finish(tree.size)
  const events = tree.size - size
  findings.expect('export', events === manifest.events, null, () => {
    return `the manifest names ${manifest.events} events, but the segments have ${events}`
  })
  return {
    ...{ first, last, events, findings },
    root: tree.root().toString('base64'),
    treeSize: tree.size,
    sealedSize: checkpoints.sealedSize,
    ...statements(manifest, checkpoints, options),
  }
}

type Verifying = {
  readonly state: AuditState
  readonly tree: GrowingTree
  readonly checkpoints: CheckpointChecks
  readonly findings: Findings
}

function verifySegment(reader: ExportReader, segment: Segment, verifying: Verifying): void {
  const { state, tree, checkpoints, findings } = verifying
  const lines = linesOf(reader, segment, findings)
  const sealed = sealedHashes(reader, segment, findings)
  let events = 0
  for (const line of lines) {
    events += 1
    try {
      const record = recordOf(line)
      const hash = leafHash(record)
      const index = state.arePositionsDense ? record.position - segment.first : events - 1
      compareLeaf(hash, sealed, index, record, findings)
      tree.append(hash)
      checkpoints.compare(tree)
      const isInside = record.position >= segment.first && record.position <= segment.last
      if (!isInside) findings.report('export', record, `is not in the range of ${segment.name}`)
      applyToAudit(state, eventOf(record), findings)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      findings.report('records', null, `event ${events} of ${segment.name}: ${reason}`)
    }
  }
  const detail = () => `${segment.name} has ${events} events instead of ${segment.events}`
  findings.expect('export', events === segment.events, null, detail)
}

const HASH_BYTES = 32

/** Reads the leaf hashes that were sealed when the events of the segment were written. */
function sealedHashes(reader: ExportReader, { sealed }: Segment, findings: Findings): Buffer {
  if (sealed === undefined) return Buffer.alloc(0)
  const hashes = reader.read(sealed.name) ?? Buffer.alloc(0)
  const isSame = createHash('sha256').update(hashes).digest('hex') === sealed.sha256
  findings.expect('export', isSame, null, () => `${sealed.name} differs from its hash`)
  return hashes
}

function compareLeaf(
  hash: Buffer,
  sealed: Buffer,
  index: number,
  record: StoredRecord,
  findings: Findings,
): void {
  const expected = sealed.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES)
  if (expected.length < HASH_BYTES) return
  const detail = () => 'the event differs from the one that was sealed at this place'
  findings.expect('transparency-log', hash.equals(expected), record, detail)
}

/** Reads the lines of a segment, of which one is in memory as text at a time. */
function* linesOf(reader: ExportReader, segment: Segment, findings: Findings): Generator<string> {
  const { name, sha256, bytes: size } = segment
  const packed = reader.read(name)
  if (packed === null) {
    findings.report('export', null, `${name} is missing`)
    return
  }
  const hash = createHash('sha256').update(packed).digest('hex')
  const isSame = hash === sha256 && packed.length === size
  findings.expect('export', isSame, null, () => `${name} differs from its hash in the manifest`)
  let bytes: Buffer
  try {
    bytes = gunzipSync(packed, { maxOutputLength: SEGMENT_BYTES_MAX })
  } catch {
    findings.report('export', null, `${name} cannot be decompressed`)
    return
  }
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(10, start)
    const end = newline < 0 ? bytes.length : newline
    yield bytes.toString('utf8', start, end)
    start = end + 1
  }
}

/** Yields the events of one stream in an export, without verifying the export. */
export function* exportedEvents(reader: ExportReader, stream: string): Generator<Recorded> {
  const manifest = reader.read(MANIFEST_FILE)
  if (manifest === null) throw new Error(`there is no ${MANIFEST_FILE}: the export is incomplete`)
  const mark = `"stream":${JSON.stringify(stream)},`
  const unread = new Findings()
  for (const segment of manifestOf(manifest.toString()).segments) {
    for (const line of linesOf(reader, segment, unread)) {
      if (line.includes(mark)) yield eventOf(recordOf(line))
    }
    const [finding] = unread.list()
    if (finding !== undefined) throw new Error(finding.detail)
  }
}

type Expected = {
  readonly root: Buffer
  readonly source: string
  readonly isSigned: boolean
  /** A rotation after the last event of the export is followed, but has no tree to compare with. */
  readonly isRotation: boolean
}

/** Compares the tree with the signed checkpoints, each at its size. */
class CheckpointChecks {
  sealedSize = 0
  readonly witnesses: readonly VerifierKey[]
  cosigned = 0
  private readonly bySize = new Map<number, Expected[]>()
  private readonly findings: Findings
  private readonly keyRing: KeyRing
  private readonly largest: { size: number; source: string } = { size: 0, source: '' }

  constructor(manifest: Manifest, options: VerifyOptions, findings: Findings) {
    this.findings = findings
    this.keyRing = this.keyRingOf(options.keys ?? manifest.keys, manifest.keyRotations ?? [])
    this.witnesses = this.validKeys(manifest.witnessKeys).map(parseVerifierKey)
    for (const note of manifest.signedCheckpoints) this.add(note, 'a signed checkpoint')
    for (const note of options.earlier ?? []) this.add(note, 'an earlier checkpoint')
  }

  /** Compares the tree with the checkpoints of its size, if there are any. */
  compare(tree: GrowingTree): void {
    const expected = this.bySize.get(tree.size)
    if (expected === undefined) return
    this.bySize.delete(tree.size)
    const root = tree.root()
    for (const { root: signed, source, isSigned } of expected) {
      const isEqual = signed.equals(root)
      this.findings.expect('signed-checkpoints', isEqual, null, () => {
        const after = this.sealedSize === 0 ? '' : ` (the tree of size ${this.sealedSize} agrees)`
        return `the first ${tree.size} events differ from ${source} of that size${after}`
      })
      if (isEqual && isSigned) this.sealedSize = Math.max(this.sealedSize, tree.size)
    }
  }

  /** Reports the checkpoints of which events are missing. */
  finish(treeSize: number): void {
    for (const [size, expected] of this.bySize) {
      if (size < treeSize) continue
      for (const { source, isRotation } of expected) {
        if (isRotation) continue
        const detail = `${source} has ${size} events, but only ${treeSize} are here`
        this.findings.report('signed-checkpoints', null, detail)
      }
    }
  }

  private add(note: string, source: string): void {
    const checkpoint = this.parsed(note, source)
    if (checkpoint === null) return
    const { size, root } = checkpoint
    const fault = this.keyRing.signatureFault(checkpoint)
    const isSigned = fault === null
    const detail = () => `${source} of size ${size} ${fault}`
    this.findings.expect('signed-checkpoints', isSigned, null, detail)
    if (this.witnesses.some((key) => isSignedBy(checkpoint, key))) this.cosigned += 1
    if (size > this.largest.size) Object.assign(this.largest, { size, source })
    this.expectAt(size, { root, source, isSigned, isRotation: false })
  }

  private keyRingOf(keys: readonly string[], rotations: readonly string[]): KeyRing {
    const ring = new KeyRing(this.validKeys(keys), rotations)
    this.findings.checked('signed-checkpoints', ring.rotations.length)
    for (const fault of ring.faults) this.findings.report('signed-checkpoints', null, fault)
    for (const { size, checkpoint } of ring.rotations) {
      const source = 'the rotation of the key'
      this.expectAt(size, { root: checkpoint.root, source, isSigned: true, isRotation: true })
    }
    return ring
  }

  private expectAt(size: number, expected: Expected): void {
    this.bySize.set(size, [...(this.bySize.get(size) ?? []), expected])
  }

  private parsed(note: string, source: string): SignedCheckpoint | null {
    try {
      return parseSignedCheckpoint(note)
    } catch (error) {
      this.findings.report('signed-checkpoints', null, `${source}: ${(error as Error).message}`)
      return null
    }
  }

  /** Returns the keys that are well-formed, and reports the others. */
  private validKeys(texts: readonly string[]): string[] {
    return texts.filter((text) => {
      try {
        return parseVerifierKey(text) !== null
      } catch (error) {
        this.findings.report('signed-checkpoints', null, (error as Error).message)
        return false
      }
    })
  }
}

function statements(
  manifest: Manifest,
  { sealedSize, cosigned, witnesses }: CheckpointChecks,
  { keys, earlier = [] }: VerifyOptions,
): Pick<VerificationReport, 'checked' | 'notChecked'> {
  const { first, last, signedCheckpoints } = manifest
  const checked = [
    `Each file against the manifest, and each rule of the events from ${first} to ${last}.`,
    `The tree over these events against ${signedCheckpoints.length} signed checkpoints.`,
  ]
  if (cosigned > 0) checked.push(`${cosigned} checkpoints are signed by a witness as well.`)
  if (earlier.length > 0) checked.push(`${earlier.length} checkpoints that you gave.`)
  const notChecked = ['That the counts of the providers are true. Only their invoices can show it.']
  const size = manifest.treeBefore.size + manifest.events
  if (sealedSize < size) {
    notChecked.push(`The last ${size - sealedSize} events are in no signed checkpoint yet.`)
  }
  if (first > 1) notChecked.push(`Rules that need the events before ${first}.`)
  if (keys === undefined) {
    notChecked.push('That the keys are those of the site: they come from the export. Use --key.')
  }
  if (earlier.length === 0) {
    notChecked.push('That the history is the one you were shown before. Use --earlier.')
  }
  if (witnesses.length === 0) notChecked.push('Signatures of witnesses: the site names none.')
  return { checked, notChecked }
}
