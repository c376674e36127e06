import { createHash } from 'node:crypto'
import type { Findings } from '#domain/audit/findings.ts'
import { LOST_HASH, type Segment } from './export-format.ts'
import type { ExportReader } from './export-reader.ts'
import type { LostTiles } from './report-lost-tiles.ts'
import type { StoredRecord } from './stored-record.ts'

/**
 * Returns the leaf hashes that were sealed when the events of the segment were written. Returns an
 * empty buffer if the segment has no file of these hashes or the file is missing. Reports a file
 * whose SHA-256 is not the one in the manifest.
 */
export function sealedHashes(
  reader: ExportReader,
  { sealed }: Segment,
  findings: Findings,
): Buffer {
  if (sealed === undefined) return Buffer.alloc(0)
  const hashes = reader.read(sealed.name) ?? Buffer.alloc(0)
  const isSame = createHash('sha256').update(hashes).digest('hex') === sealed.sha256
  findings.expect('export', isSame, null, 'FileDiffers', () => ({ file: sealed.name }))
  return hashes
}

type ComparedEvent = {
  readonly hash: Buffer
  readonly record: StoredRecord
  /**
   * `index`: the index of the event's hash in the file of sealed hashes. `leaf`: its index in the
   * log.
   */
  readonly index: number
  readonly leaf: number
}

/**
 * Reports an event that differs from its sealed hash. If the site has lost the hash, adds the hash
 * to `lostTiles` instead. An event that was not sealed yet has no hash and is not compared.
 */
export function compareWithSeal(
  { hash, record, index, leaf }: ComparedEvent,
  sealed: Buffer,
  lostTiles: LostTiles,
  findings: Findings,
): void {
  const { length } = LOST_HASH
  const expected = sealed.subarray(index * length, (index + 1) * length)
  if (expected.length < length) return
  if (expected.equals(LOST_HASH)) lostTiles.add(leaf)
  else findings.expect('transparency-log', hash.equals(expected), record, 'EventDiffersFromSeal')
}
