import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'

/**
 * The signature types of C2SP signed-note. A witness makes a cosignature, which includes a time.
 */
const NOTE_SIGNATURE = 1
const COSIGNATURE = 4

/** The DER prefix of an Ed25519 private key (RFC 8410). The 32 bytes of the seed follow. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

/**
 * A signing key with a name. The public key is published as two texts of the form `name+hash+key`.
 * One text verifies signatures on checkpoints of the key's own log. The other text verifies
 * cosignatures on checkpoints of other logs.
 */
export type NoteSigner = {
  readonly name: string
  /** The public key that verifies this signer's signatures on checkpoints of its own log. */
  readonly verifierKey: string
  /** The public key that verifies this signer's cosignatures on checkpoints of other logs. */
  readonly witnessKey: string
  /** Signs the text of a note. Returns the signature line. */
  readonly sign: (body: string) => string
  /**
   * Cosigns the text of a note at a time in Unix seconds. Returns the signature line
   * (`cosignature/v1` of C2SP tlog-cosignature).
   */
  readonly cosign: (body: string, seconds: number) => string
}

/** Creates a signer from the 32 bytes of an Ed25519 seed. Throws for another length. */
export function createNoteSigner(name: string, seed: Uint8Array): NoteSigner {
  if (seed.length !== 32) throw new Error('the key of the transparency log must have 32 bytes')
  if (!/^[^\s+]{1,200}$/.test(name))
    throw new Error('the name must have no spaces and no plus sign')
  const der = Buffer.concat([PKCS8_PREFIX, seed])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const publicKey = publicKeyOf(privateKey)
  const line = (kind: number, signature: Buffer) =>
    `— ${name} ${Buffer.concat([keyId(name, kind, publicKey), signature]).toString('base64')}\n`
  return {
    name,
    verifierKey: keyText(name, NOTE_SIGNATURE, publicKey),
    witnessKey: keyText(name, COSIGNATURE, publicKey),
    sign: (body) => line(NOTE_SIGNATURE, sign(null, Buffer.from(body), privateKey)),
    cosign: (body, seconds) => {
      const signed = Buffer.from(`cosignature/v1\ntime ${seconds}\n${body}`)
      const time = Buffer.alloc(8)
      time.writeBigUInt64BE(BigInt(seconds))
      return line(COSIGNATURE, Buffer.concat([time, sign(null, signed, privateKey)]))
    },
  }
}

/** Returns the 32 bytes of an Ed25519 public key, which are the last bytes of its DER form. */
function publicKeyOf(privateKey: KeyObject): Buffer {
  return createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32)
}

const keyId = (name: string, kind: number, publicKey: Buffer): Buffer =>
  createHash('sha256')
    .update(`${name}\n`)
    .update(Buffer.of(kind))
    .update(publicKey)
    .digest()
    .subarray(0, 4)

function keyText(name: string, kind: number, publicKey: Buffer): string {
  const encoded = Buffer.concat([Buffer.of(kind), publicKey]).toString('base64')
  return `${name}+${keyId(name, kind, publicKey).toString('hex')}+${encoded}`
}

/** Returns the text that is signed for a checkpoint (C2SP tlog-checkpoint). */
export const checkpointBody = (origin: string, size: number, root: Buffer): string =>
  `${origin}\n${size}\n${root.toString('base64')}\n`

/** Joins the signed text and the signature lines to a note. An empty line separates them. */
export const noteOf = (body: string, lines: readonly string[]): string =>
  `${body}\n${lines.join('')}`
