import { createSecretKey, hkdfSync } from 'node:crypto'
import { decrypt, encrypt } from '../vault/cipher.ts'
import { createKeyedHash } from '../vault/keyed-hash.ts'

/** Short-lived values as they lie outside of the process: a dump of them tells nothing. */
export type SealedValues = {
  /** What stands for the key: a keyed hash, with the kind in clear. */
  readonly nameOf: (kind: string, key: string) => string
  readonly seal: (name: string, value: string) => Buffer
  readonly open: (name: string, sealed: Buffer | null) => string | null
}

/** Keys hashed and values encrypted, both under keys that come from `SECRET_KEY`. */
export function createSealedValues(secretKey: Uint8Array): SealedValues {
  const derive = (purpose: string) =>
    Buffer.from(hkdfSync('sha256', secretKey, 'tallygate', `short-lived:${purpose}`, 32))
  const wrapping = createSecretKey(derive('value'))
  const hash = createKeyedHash(derive('key'))
  return {
    nameOf: (kind, key) => `tallygate:short-lived:${kind}:${hash(`${kind}\n${key}`)}`,
    seal: (name, value) => encrypt(wrapping, name, Buffer.from(value)),
    open: (name, sealed) => (sealed === null ? null : decrypt(wrapping, name, sealed).toString()),
  }
}
