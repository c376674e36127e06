import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'

/**
 * The signature types of C2SP signed-note. A cosignature, the signature of a witness, includes a
 * time.
 */
const NOTE_SIGNATURE = 1
const COSIGNATURE = 4

/** The DER prefix of an Ed25519 private key (RFC 8410). The 32 bytes of the seed follow. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

/** A key that signs notes under a name. Its public keys have the form `name+hash+key`. */
export type NoteSigner = {
  readonly name: string
  /** The key with which others verify the signatures of checkpoints. */
  readonly verifierKey: string
  /** The key with which others verify cosignatures. */
  readonly witnessKey: string
  /** Returns the signature line of a note. */
  readonly sign: (body: string) => string
  /** Returns the line `cosignature/v1` (C2SP tlog-cosignature) for the time in unix seconds. */
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

/** The 32 bytes of an Ed25519 public key. They end its DER form. */
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

/** Returns the signed text of a checkpoint (C2SP tlog-checkpoint). */
export const checkpointBody = (origin: string, size: number, root: Buffer): string =>
  `${origin}\n${size}\n${root.toString('base64')}\n`

/** Returns a note: the text, an empty line, and the signature lines. */
export const noteOf = (body: string, lines: readonly string[]): string =>
  `${body}\n${lines.join('')}`
