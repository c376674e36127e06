import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  type KeyPairKeyObjectResult,
  sign,
} from 'node:crypto'

export type Signer = {
  readonly key: string
  /** Signs a checkpoint of its own origin, or as a witness one of another origin. */
  readonly sign: (size: number, root: Buffer, noteOrigin?: string) => string
  /** Returns a signer with the same key under another name. */
  readonly renamed: (origin: string) => Signer
  /** Returns a signer with the same key and name that signs as a witness does. */
  readonly cosigner: () => Signer
}

/** Creates a key and returns a function that signs checkpoints with it (C2SP signed-note). */
export const checkpointSigner = (origin: string, kind: 1 | 4 = 1): Signer =>
  signerOf(origin, kind, generateKeyPairSync('ed25519'))

function signerOf(origin: string, kind: 1 | 4, pair: KeyPairKeyObjectResult): Signer {
  const { publicKey, privateKey } = pair
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  const encoded = Buffer.concat([Buffer.of(kind), raw])
  const id = createHash('sha256').update(`${origin}\n`).update(encoded).digest().subarray(0, 4)
  return {
    key: `${origin}+${id.toString('hex')}+${encoded.toString('base64')}`,
    renamed: (other) => signerOf(other, kind, pair),
    cosigner: () => signerOf(origin, 4, pair),
    sign: (size, root, noteOrigin = origin) => {
      const body = `${noteOrigin}\n${size}\n${root.toString('base64')}\n`
      const signature = kind === 1 ? signed(body, privateKey) : cosigned(body, privateKey)
      return `${body}\n— ${origin} ${Buffer.concat([id, signature]).toString('base64')}\n`
    },
  }
}

const signed = (body: string, key: KeyObject): Buffer => sign(null, Buffer.from(body), key)

function cosigned(body: string, key: KeyObject): Buffer {
  const seconds = Buffer.alloc(8)
  seconds.writeBigUInt64BE(1_800_000_000n)
  const text = Buffer.from(`cosignature/v1\ntime 1800000000\n${body}`)
  return Buffer.concat([seconds, sign(null, text, key)])
}
