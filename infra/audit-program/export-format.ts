/**
 * The name of the export's format, as the manifest states it. The README of this folder describes
 * the files of an export.
 */
export const EXPORT_FORMAT = 'tallygate-audit-export'
export const EXPORT_VERSION = 1
export const MANIFEST_FILE = 'manifest.json'
export const VERIFIER_FILE = 'verify.mjs'
export const SEGMENT_FOLDER = 'segments'
export const SEALED_FOLDER = 'sealed'

/**
 * Replaces a sealed leaf hash that the log has lost, so that the later hashes keep their places in
 * the file. No event has this hash.
 */
export const LOST_HASH = Buffer.alloc(32)

/**
 * The number of positions that a segment covers. Only the first and the last segment can cover
 * fewer. Positions without an event have no line in the segment.
 */
export const EVENTS_PER_SEGMENT = 10_000

/** The maximum size of a segment in bytes, compressed and uncompressed. */
export const SEGMENT_BYTES_MAX = 512 * 1024 * 1024

export type Segment = {
  /** The name of the segment's file, such as `segments/000000000001-000000010000.ndjson.gz`. */
  readonly name: string
  readonly first: number
  readonly last: number
  readonly events: number
  /** `bytes`: the size of the file. `sha256`: the SHA-256 of the file in hex. */
  readonly bytes: number
  readonly sha256: string
  /**
   * The file with the leaf hashes (32 bytes each) that were sealed when these events were written,
   * and the SHA-256 of this file in hex. A hash that the site's log has lost is `LOST_HASH`. The
   * file contains no hashes of events that are not sealed yet. Omitted if none of the events is
   * sealed.
   */
  readonly sealed?: { readonly name: string; readonly sha256: string }
}

export type Manifest = {
  readonly format: typeof EXPORT_FORMAT
  readonly version: number
  readonly exportedAt: string
  /** The positions of the first (`first`) and the last event (`last`), or 0 without events. */
  readonly first: number
  readonly last: number
  readonly events: number
  readonly segments: readonly Segment[]
  /**
   * The Merkle tree over the events before `first`: the number of these events, and the roots
   * (base64) of the complete subtrees.
   */
  readonly treeBefore: { readonly size: number; readonly subtrees: readonly string[] }
  /**
   * The signed checkpoints of the site, in the order of their tree sizes. If the export was limited
   * to a last position, larger trees than the tree up to this position are left out.
   */
  readonly signedCheckpoints: readonly string[]
  /**
   * The public keys of the site (`keys`) and its witnesses (`witnessKeys`), as `name+hash+key`.
   * They verify the signatures.
   */
  readonly keys: readonly string[]
  readonly witnessKeys: readonly string[]
  /**
   * The signed notes in which the site replaced its key. Both the old and the new key have signed
   * each note. Exports of earlier releases lack this field.
   */
  readonly keyRotations?: readonly string[]
  /**
   * The first signed checkpoint of a tree that is larger than the tree of the exported events, and
   * its consistency proof (hashes in base64). The proof shows that the tree of this checkpoint
   * begins with the tree of the exported events. Omitted if the export ends with the last event of
   * the site, or if there is no such checkpoint or proof.
   */
  readonly continuation?: {
    readonly signedCheckpoint: string
    readonly hashes: readonly string[]
  }
  /** False if the event store leaves gaps between positions. */
  readonly arePositionsDense: boolean
}

const digits = (position: number): string => String(position).padStart(12, '0')

export const segmentName = (first: number, last: number): string =>
  `${SEGMENT_FOLDER}/${digits(first)}-${digits(last)}.ndjson.gz`

/** Returns the name of the file with the sealed leaf hashes of a segment. */
export const sealedName = (segment: string): string =>
  segment.replace(`${SEGMENT_FOLDER}/`, `${SEALED_FOLDER}/`).replace('.ndjson.gz', '.sha256')

/**
 * Returns the last position of the segment that contains `position`. Segment boundaries are
 * multiples of `EVENTS_PER_SEGMENT`.
 */
export const segmentEnd = (position: number): number =>
  Math.ceil(position / EVENTS_PER_SEGMENT) * EVENTS_PER_SEGMENT

/**
 * Parses a manifest. Throws if the manifest is incomplete, or if its format or version is not the
 * one that this verifier knows.
 */
export function manifestOf(text: string): Manifest {
  const manifest = JSON.parse(text) as Manifest
  if (manifest?.format !== EXPORT_FORMAT) throw new Error('the manifest is of another format')
  if (manifest.version !== EXPORT_VERSION) {
    throw new Error(`this verifier does not know version ${manifest.version} of exports`)
  }
  const { segments, signedCheckpoints, keys, witnessKeys, treeBefore, continuation } = manifest
  const { keyRotations = [] } = manifest
  const lists = [segments, signedCheckpoints, keys, witnessKeys, keyRotations, treeBefore?.subtrees]
  const isComplete =
    lists.every(Array.isArray) &&
    segments.every((segment) => typeof segment === 'object' && segment !== null) &&
    Number.isSafeInteger(treeBefore.size) &&
    treeBefore.size >= 0 &&
    (continuation === undefined || Array.isArray(continuation?.hashes))
  if (!isComplete) throw new Error('the manifest is incomplete')
  return manifest
}
