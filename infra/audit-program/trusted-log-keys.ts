import type { CheckpointSource } from '#domain/audit/finding-texts/names-in-finding-texts.ts'
import { type CodedFinding, FindingError, findingOf } from '#domain/audit/finding-texts.ts'
import {
  isNameOfSite,
  isSignedBy,
  parseSignedCheckpoint,
  parseVerifierKey,
  type SignedCheckpoint,
  type VerifierKey,
} from './signed-checkpoint.ts'

const ROTATION = /^key-rotation (\S+) (\S+)$/m

/** Returns the extension line that a checkpoint contains when a log replaces its key. */
export const rotationLine = (oldKey: string, newKey: string): string =>
  `key-rotation ${oldKey} ${newKey}\n`

/**
 * A replacement of a log's key, recorded in a checkpoint that both the old and the new key have
 * signed.
 */
export type KeyRotation = {
  readonly oldKey: string
  readonly newKey: string
  /**
   * The tree size at which the key was replaced. The old key may not sign a checkpoint of a larger
   * tree.
   */
  readonly size: number
  readonly checkpoint: SignedCheckpoint
}

/** Reports whether a log replaces its key in this checkpoint. */
export const isKeyRotation = ({ body }: SignedCheckpoint): boolean => ROTATION.test(body)

/**
 * Parses the replacement of a log's key. Throws unless both keys belong to the log that the
 * checkpoint names and both have signed it.
 */
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

/** An error in the keys of a log or in their replacements. */
export type KeyFault = CodedFinding

/** The reason why a checkpoint's signature is not accepted. */
export type SignatureFault = CodedFinding<
  'SignerUnknown' | 'SignerOfOtherLog' | 'SignerRetired' | 'SignerNotInForce'
>

type Validity = { readonly key: VerifierKey; from: number; until: number }

/**
 * The keys of a log, each with the range of tree sizes whose checkpoints the key may sign. The
 * caller passes the keys that it trusts. If one key of a rotation (replacement of a key) is
 * trusted, the other key of the rotation becomes trusted too, because both keys have signed the
 * rotation.
 */
export class KeyRing {
  /**
   * The faults of rotations that are malformed, contradict each other, or connect to no trusted
   * key. Also contains a fault if two trusted keys of one log are both valid after the last
   * rotation.
   */
  readonly faults: readonly KeyFault[]
  /** The rotations that connect to a trusted key. */
  readonly rotations: readonly KeyRotation[]
  private readonly validities = new Map<string, Validity>()

  /** Throws if a trusted key is malformed. Malformed rotations are added to `faults`. */
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

  /**
   * Returns why the checkpoint's signature is not accepted. Returns null if the checkpoint was
   * signed by a key of the log that was valid at the tree size of the checkpoint. The key must have
   * the name of the log. A witness keeps one history for each name, so a site with two names could
   * have two histories witnessed.
   */
  signatureFault(
    checkpoint: SignedCheckpoint,
    source: CheckpointSource = 'signed',
  ): SignatureFault | null {
    const { size, origin } = checkpoint
    const all = [...this.validities.values()].filter(({ key }) => isSignedBy(checkpoint, key))
    const signers = all.filter(({ key }) => key.name === origin)
    if (signers.some(({ from, until }) => size >= from && size <= until)) return null
    const [signer] = signers
    if (signer === undefined) {
      const [other] = all
      if (other === undefined) return { code: 'SignerUnknown', params: { source, size } }
      const params = { source, size, origin: origin.slice(0, 200), key: other.key.name }
      return { code: 'SignerOfOtherLog', params }
    }
    const { from, until } = signer
    return size > until
      ? { code: 'SignerRetired', params: { source, size, until } }
      : { code: 'SignerNotInForce', params: { source, size, from } }
  }

  /**
   * Reports whether a key belongs to the site itself. This is true for each present and former key
   * of the log. This is also true for any key with the name of the log, or with the name under
   * which the site witnesses other logs.
   */
  isKeyOfSite({ name, publicKey }: VerifierKey): boolean {
    return [...this.validities.values()].some(({ key }) => {
      return key.publicKey.equals(publicKey) || isNameOfSite(name, key.name)
    })
  }

  /**
   * Trusts the keys that rotations connect to `start`: later keys if `side` is `oldKey`, and
   * earlier keys if `side` is `newKey`.
   */
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

  /** Reports whether two trusted keys of one log are both valid after the last rotation. */
  private hasRivals(trusted: readonly string[]): boolean {
    const current = [...new Set(trusted)]
      .map((key) => this.validityOf(key))
      .filter(({ until }) => until === Number.POSITIVE_INFINITY)
    return new Set(current.map(({ key }) => key.name)).size < current.length
  }
}

/**
 * Parses the rotations. A key has at most one successor and one predecessor. A rotation that gives
 * a key a second successor or predecessor is left out. Such a rotation is added to `faults`, unless
 * it repeats the first rotation. Rotations that can't be parsed are added to `faults` too.
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
