import { createSecretKey, hkdfSync } from 'node:crypto'
import { decrypt, encrypt } from '../vault/cipher.ts'
import { createKeyedHash } from '../vault/key-ring.ts'

/**
 * Values that live for minutes and are used once: verification codes, OAuth states. Methods reject
 * with `ShortLivedUnavailable` when the values can't be reached: then nobody gets in by one.
 */
export interface ShortLived {
  /** Replaces an older value of the same kind and key, and its tries. */
  put(kind: string, key: string, value: string, ttlMs: number): Promise<void>
  /** The value, to one asker alone, however many ask at once; null when there is none. */
  take(kind: string, key: string): Promise<string | null>
  peek(kind: string, key: string): Promise<string | null>
  /**
   * Counts a try at the value, made before it is compared. How many are left after this one; null
   * when there is no value, or this would be more than `max`: then it is void for good.
   */
  countTry(kind: string, key: string, max: number): Promise<number | null>
}

export class ShortLivedUnavailable extends Error {
  constructor(options?: ErrorOptions) {
    super('short-lived values can not be reached', options)
    this.name = 'ShortLivedUnavailable'
  }
}

/** Short-lived values as they lie outside of the process: a dump of them tells nothing. */
type SealedValues = {
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
