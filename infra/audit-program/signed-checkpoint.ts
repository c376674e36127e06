import { createHash, createPublicKey, verify } from 'node:crypto'
import type { CheckpointSource } from '#domain/audit/finding-texts/movement-and-balance-names.ts'
import { FindingError } from '#domain/audit/finding-texts.ts'

/**
 * A key that verifies signatures, in the form of C2SP signed-note: `name+hash+key`. `kind` is 1 for
 * a signature of the note and 4 for the timestamped signature of a witness.
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

/** Parses a key. Throws if its text, its length or its hash is wrong. */
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

const SIGNATURE_LINE = /^— (\S+) (\S+)$/
const NOTE_LENGTH_MAX = 100_000

/**
 * Parses a checkpoint and its signatures, without verifying them. Throws if the form is wrong; the
 * error names the source.
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

/**
 * Splits a text into signed notes. Such a text is, for example, the file to which a site appends
 * its checkpoints. An empty line separates two notes, and also the text of a note from its
 * signatures. A note without signatures is returned as well, so that it is not silently ignored.
 */
export function splitNotes(text: string): string[] {
  const notes: string[] = []
  let body: string | null = null
  for (const block of text.split(/\n{2,}/).map((lines) => lines.replace(/^\n|\n$/g, ''))) {
    if (block === '') continue
    if (block.startsWith('— ')) {
      notes.push(`${body ?? ''}\n\n${block}\n`)
      body = null
    } else {
      if (body !== null) notes.push(`${body}\n`)
      body = block
    }
  }
  return body === null ? notes : [...notes, `${body}\n`]
}

/**
 * Returns whether the key has signed the checkpoint. The signature of a witness key includes a
 * time.
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

/** The DER prefix of an Ed25519 public key (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')

function isSignature(signed: Buffer, signature: Buffer, { publicKey }: VerifierKey): boolean {
  const der = Buffer.concat([SPKI_PREFIX, publicKey])
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
  return signature.length === 64 && verify(null, signed, key, signature)
}
