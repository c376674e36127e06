import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { CheckpointSource } from '#domain/audit/finding-texts/names-in-finding-texts.ts'
import { FindingError } from '#domain/audit/finding-texts.ts'

/**
 * A public key as C2SP signed-note writes it: the text `name+hash+key`. `kind` is 1 for a key that
 * signs the note itself, and 4 for a witness, which signs the note with a timestamp.
 */
export type VerifierKey = {
  readonly name: string
  readonly id: string
  readonly kind: 1 | 4
  readonly publicKey: Buffer
}

export type NoteSignature = {
  readonly name: string
  readonly id: string
  readonly bytes: Buffer
}

/**
 * A signed checkpoint: the size and the root hash of a log's tree, in the format C2SP
 * tlog-checkpoint. `body` is the signed text.
 */
export type SignedCheckpoint = {
  readonly origin: string
  readonly size: number
  readonly root: Buffer
  readonly body: string
  readonly signatures: readonly NoteSignature[]
}

/** Parses a public key. Throws if its text, its length or its hash is wrong. */
export function parseVerifierKey(text: string): VerifierKey {
  const [, name = '', id = '', encoded = ''] =
    /^(\S+?)\+([0-9a-f]{8})\+(\S+)$/.exec(text.trim()) ?? []
  const bytes = Buffer.from(encoded, 'base64')
  const kind = bytes[0]
  if (name === '' || bytes.length !== 33 || (kind !== 1 && kind !== 4)) {
    throw new FindingError({ code: 'KeyMalformed', params: {} })
  }
  const expected = createHash('sha256').update(`${name}\n`).update(bytes).digest('hex').slice(0, 8)
  if (expected !== id)
    throw new FindingError({ code: 'KeyHashDiffers', params: { name, id, expected } })
  return { name, id, kind, publicKey: bytes.subarray(1) }
}

/**
 * Parses the public key of a witness. Throws like `parseVerifierKey`. Also throws for a key that
 * signs checkpoints of its own log. The signature of such a key contains no time, and does not
 * state that a witness has checked the log.
 */
export function parseWitnessKey(text: string): VerifierKey {
  const key = parseVerifierKey(text)
  const { name, kind } = key
  if (kind !== 4) throw new FindingError({ code: 'KeyNotOfWitness', params: { name } })
  return key
}

/**
 * Returns the name of the key with which the site of a log signs, as a witness, the logs of other
 * sites.
 */
export const witnessNameOf = (origin: string): string => `${origin}/witness`

/** Reports whether a key with this name belongs to the site whose log has the name `origin`. */
export const isNameOfSite = (name: string, origin: string): boolean =>
  name === origin || name === witnessNameOf(origin)

const SIGNATURE_LINE = /^— (\S+) (\S+)$/
/** The maximum length of a note. A longer note is reported as one without signatures. */
export const NOTE_LENGTH_MAX = 100_000

/**
 * Parses a checkpoint and its signatures, without verifying them. Throws if the format is wrong.
 * The error contains `source`, which says where the checkpoint comes from.
 */
export function parseSignedCheckpoint(
  note: string,
  source: CheckpointSource = 'signed',
): SignedCheckpoint {
  const end = note.lastIndexOf('\n\n')
  if (end < 0 || note.length > NOTE_LENGTH_MAX) {
    throw new FindingError({ code: 'CheckpointUnsigned', params: { source } })
  }
  const body = note.slice(0, end + 1)
  const [origin = '', sizeText = '', rootText = ''] = body.split('\n')
  const [size, root] = [Number(sizeText), Buffer.from(rootText, 'base64')]
  if (!/^(0|[1-9]\d{0,15})$/.test(sizeText) || root.length !== 32 || origin === '') {
    throw new FindingError({ code: 'CheckpointIncomplete', params: { source } })
  }
  const lines = note
    .slice(end + 2)
    .split('\n')
    .filter((line) => line !== '')
  const signatures = lines.map((line) => {
    const [, name = '', encoded = ''] = SIGNATURE_LINE.exec(line) ?? []
    const bytes = Buffer.from(encoded, 'base64')
    if (bytes.length < 5) throw new FindingError({ code: 'SignatureMalformed', params: { source } })
    return { name, id: bytes.subarray(0, 4).toString('hex'), bytes: bytes.subarray(4) }
  })
  return { origin, size, root, body, signatures }
}

/** Parses a checkpoint. Returns null if its format is wrong. */
export function parseCheckpointOrNull(note: string): SignedCheckpoint | null {
  try {
    return parseSignedCheckpoint(note)
  } catch {
    return null
  }
}

/**
 * Joins lines to signed notes. The lines can come from the file to which a site appends its
 * checkpoints. An empty line separates two notes, and also separates the text of a note from its
 * signatures. A note without signatures is yielded too, so that it is not left out silently.
 */
export function* notesIn(lines: Iterable<string>): Generator<string> {
  let body: string | null = null
  for (const block of blocksIn(lines)) {
    if (block.startsWith('— ')) {
      yield `${body ?? ''}\n\n${block}\n`
      body = null
    } else {
      if (body !== null) yield `${body}\n`
      body = block
    }
  }
  if (body !== null) yield `${body}\n`
}

/** Joins the lines between empty lines to blocks. A block longer than `NOTE_LENGTH_MAX` is cut. */
function* blocksIn(lines: Iterable<string>): Generator<string> {
  let block: string[] = []
  let length = 0
  for (const line of lines) {
    if (line !== '') {
      if (length <= NOTE_LENGTH_MAX) block.push(line)
      length += line.length + 1
    } else if (block.length > 0) {
      yield block.join('\n')
      block = []
      length = 0
    }
  }
  if (block.length > 0) yield block.join('\n')
}

/**
 * Reports whether the key has signed the checkpoint. The signature of a witness covers the time of
 * signing too.
 */
export function isSignedBy({ body, signatures }: SignedCheckpoint, key: VerifierKey): boolean {
  return signatures.some(({ name, id, bytes }) => {
    if (name !== key.name || id !== key.id) return false
    if (key.kind === 1) return isSignature(Buffer.from(body), bytes, key)
    if (bytes.length !== 72) return false
    const seconds = bytes.readBigUInt64BE(0)
    const signed = Buffer.from(`cosignature/v1\ntime ${seconds}\n${body}`)
    return isSignature(signed, bytes.subarray(8), key)
  })
}

/**
 * Returns the number of different keys. A key that is given twice, or under two names, counts once,
 * because the key has only one holder.
 */
export const countDifferentKeys = (keys: readonly VerifierKey[]): number =>
  new Set(keys.map(({ publicKey }) => publicKey.toString('hex'))).size

/**
 * Returns the number of different witnesses that have signed the checkpoint. Only keys of witnesses
 * count.
 */
export const countSigners = (checkpoint: SignedCheckpoint, keys: readonly VerifierKey[]): number =>
  countDifferentKeys(keys.filter((key) => key.kind === 4 && isSignedBy(checkpoint, key)))

/** The DER prefix of an Ed25519 public key (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')

/** Caches the key objects, because a verification uses few keys for many signatures. */
const keyObjects = new WeakMap<VerifierKey, KeyObject>()

function isSignature(signed: Buffer, signature: Buffer, verifier: VerifierKey): boolean {
  const cachedKey = keyObjects.get(verifier)
  const der = Buffer.concat([SPKI_PREFIX, verifier.publicKey])
  const key = cachedKey ?? createPublicKey({ key: der, format: 'der', type: 'spki' })
  if (cachedKey === undefined) keyObjects.set(verifier, key)
  return signature.length === 64 && verify(null, signed, key, signature)
}
