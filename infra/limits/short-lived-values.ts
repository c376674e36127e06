import { createSecretKey, hkdfSync } from 'node:crypto'
import { decrypt, encrypt } from '../vault/cipher.ts'
import { createKeyedHash } from '../vault/keys-derived-from-secret-key.ts'

/**
 * Values that live for minutes and are used once, such as verification codes and OAuth states.
 * Methods reject with `ShortLivedUnavailable` if the store can't be reached. Callers must then deny
 * access.
 */
export interface ShortLived {
  /**
   * Stores a value. It replaces an older value with the same kind and key, and resets the number of
   * tries.
   */
  put(kind: string, key: string, value: string, ttlMs: number): Promise<void>
  /**
   * Removes and returns the value, or returns null if there is none. Only one of several
   * simultaneous callers gets the value.
   */
  take(kind: string, key: string): Promise<string | null>
  peek(kind: string, key: string): Promise<string | null>
  /**
   * Counts a try. Call this method before comparing the value. Returns the number of remaining
   * tries. Returns null if there is no value, or if the try exceeds `max`, in which case the value
   * is deleted.
   */
  countTry(kind: string, key: string, max: number): Promise<number | null>
}

export class ShortLivedUnavailable extends Error {
  constructor(options?: ErrorOptions) {
    super('short-lived values are unavailable', options)
    this.name = 'ShortLivedUnavailable'
  }
}

/**
 * Functions that encrypt short-lived values before they are stored outside of the process. A dump
 * of the storage then reveals nothing.
 */
type SealedValues = {
  /**
   * Returns the name under which a value is stored: a keyed hash of its key, with the kind in clear
   * text.
   */
  readonly nameOf: (kind: string, key: string) => string
  readonly seal: (name: string, value: string) => Buffer
  readonly open: (name: string, sealed: Buffer | null) => string | null
}

/**
 * Creates functions that hash names and encrypt values with keys that are derived from
 * `SECRET_KEY`.
 */
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
