import type { CheckpointSource } from '#domain/audit/finding-texts/movement-and-balance-names.ts'
import { type CodedFinding, FindingError, findingOf } from '#domain/audit/finding-texts.ts'
import {
  isSignedBy,
  parseSignedCheckpoint,
  parseVerifierKey,
  type SignedCheckpoint,
  type VerifierKey,
} from './signed-checkpoint.ts'

const ROTATION = /^key-rotation (\S+) (\S+)$/m

/** Returns the extension line of a checkpoint in which a log replaces its key by another key. */
export const rotationLine = (oldKey: string, newKey: string): string =>
  `key-rotation ${oldKey} ${newKey}\n`

/** The replacement of a log's key, in a checkpoint that both keys have signed. */
export type KeyRotation = {
  readonly oldKey: string
  readonly newKey: string
  /** The tree size at the rotation. The old key signs no checkpoint of a larger tree. */
  readonly size: number
  readonly checkpoint: SignedCheckpoint
}

/** Returns whether a log replaces its key in this checkpoint. */
export const isKeyRotation = ({ body }: SignedCheckpoint): boolean => ROTATION.test(body)

/** Parses a rotation. Throws unless both keys are of its log and have signed it. */
export function parseKeyRotation(note: string): KeyRotation {
  const checkpoint = parseSignedCheckpoint(note)
  const { body, origin, size } = checkpoint
  const [, oldKey = '', newKey = ''] = ROTATION.exec(body) ?? []
  const keys = [oldKey, newKey].map(parseVerifierKey)
  if (oldKey === newKey) throw new FindingError({ code: 'RotationKeysEqual', params: {} })
  if (keys.some(({ name, kind }) => name !== origin || kind !== 1)) {
    throw new FindingError({ code: 'RotationOfOtherLog', params: {} })
  }
  if (!keys.every((key) => isSignedBy(checkpoint, key))) {
    throw new FindingError({ code: 'RotationUnsigned', params: { size } })
  }
  return { oldKey, newKey, size, checkpoint }
}

/** A fault of the keys of a log or of their rotations. */
export type KeyFault = CodedFinding

/** The reason why the signature of a checkpoint does not count. */
export type SignatureFault = CodedFinding<'SignerUnknown' | 'SignerRetired' | 'SignerNotInForce'>

type Validity = { readonly key: VerifierKey; from: number; until: number }

/**
 * The keys of a log, each with the tree sizes of the checkpoints that it may sign. The caller gives
 * the keys that it trusts. From a trusted key, a rotation leads to the key before or after it,
 * because both keys have signed the rotation.
 */
export class KeyRing {
  /** The rotations that are malformed, contradict each other, or lead to no trusted key. */
  readonly faults: readonly KeyFault[]
  /** The rotations that lead to a trusted key. */
  readonly rotations: readonly KeyRotation[]
  private readonly validities = new Map<string, Validity>()

  /** Throws if a key is malformed. Malformed rotations are faults. */
  constructor(trusted: readonly string[], rotationNotes: readonly string[] = []) {
    const faults: KeyFault[] = []
    const rotations = parsedRotations(rotationNotes, faults)
    for (const key of trusted) this.validityOf(key)
    const followed = new Set<KeyRotation>()
    for (const key of trusted) {
      this.follow(key, rotations, 'newKey', followed)
      this.follow(key, rotations, 'oldKey', followed)
    }
    for (const rotation of rotations) {
      if (followed.has(rotation)) continue
      faults.push({ code: 'RotationUntrusted', params: { size: rotation.size } })
    }
    if (this.hasRivals(trusted)) faults.push({ code: 'RotationMissing', params: {} })
    this.faults = faults
    this.rotations = [...followed].toSorted((a, b) => a.size - b.size)
  }

  /** Returns why no key that was in force has signed the checkpoint, or null if one has. */
  signatureFault(
    checkpoint: SignedCheckpoint,
    source: CheckpointSource = 'signed',
  ): SignatureFault | null {
    const { size } = checkpoint
    const signers = [...this.validities.values()].filter(({ key }) => isSignedBy(checkpoint, key))
    if (signers.some(({ from, until }) => size >= from && size <= until)) return null
    const [signer] = signers
    if (signer === undefined) return { code: 'SignerUnknown', params: { source, size } }
    const { from, until } = signer
    return size > until
      ? { code: 'SignerRetired', params: { source, size, until } }
      : { code: 'SignerNotInForce', params: { source, size, from } }
  }

  /** Follows the rotations from a key, to later keys (`oldKey`) or to earlier ones (`newKey`). */
  private follow(
    start: string,
    rotations: readonly KeyRotation[],
    side: 'oldKey' | 'newKey',
    followed: Set<KeyRotation>,
  ): void {
    const visited = new Set<string>()
    for (let key = start; !visited.has(key); ) {
      visited.add(key)
      const rotation = rotations.find((one) => one[side] === key)
      if (rotation === undefined) return
      const { oldKey, newKey, size } = rotation
      const [before, after] = [this.validityOf(oldKey), this.validityOf(newKey)]
      before.until = Math.min(before.until, size)
      after.from = Math.max(after.from, size)
      followed.add(rotation)
      key = side === 'oldKey' ? newKey : oldKey
    }
  }

  private validityOf(text: string): Validity {
    const existing = this.validities.get(text)
    if (existing !== undefined) return existing
    const added = { key: parseVerifierKey(text), from: 0, until: Number.POSITIVE_INFINITY }
    this.validities.set(text, added)
    return added
  }

  /** Returns true if two keys of one log are both in force after its last rotation. */
  private hasRivals(trusted: readonly string[]): boolean {
    const current = [...new Set(trusted)]
      .map((key) => this.validityOf(key))
      .filter(({ until }) => until === Number.POSITIVE_INFINITY)
    return new Set(current.map(({ key }) => key.name)).size < current.length
  }
}

/**
 * Parses the rotations. A key has at most one successor and one predecessor. A further one is a
 * fault and is not followed.
 */
function parsedRotations(notes: readonly string[], faults: KeyFault[]): KeyRotation[] {
  const parsed: KeyRotation[] = []
  for (const note of notes) {
    try {
      parsed.push(parseKeyRotation(note))
    } catch (error) {
      faults.push(findingOf(error))
    }
  }
  const accepted: KeyRotation[] = []
  for (const rotation of parsed.toSorted((a, b) => a.size - b.size)) {
    const { oldKey, newKey, checkpoint } = rotation
    const rival = accepted.find((one) => one.oldKey === oldKey || one.newKey === newKey)
    if (rival === undefined) accepted.push(rotation)
    else if (rival.checkpoint.body !== checkpoint.body) {
      const params = { size: rival.size, otherSize: rotation.size }
      faults.push({ code: 'RotationsContradict', params })
    }
  }
  return accepted
}
