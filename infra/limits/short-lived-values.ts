import { createSecretKey, hkdfSync } from 'node:crypto'
import { decrypt, encrypt } from '../vault/cipher.ts'
import { createKeyedHash } from '../vault/keys-derived-from-secret-key.ts'

/**
 * Stores values that live for minutes and are used once, such as verification codes. If the store
 * can't be reached, methods reject with `ShortLivedUnavailable`, and callers must deny access.
 */
export interface ShortLived {
  /**
   * Stores a value for `ttlMs` milliseconds. It replaces an older value of the same key, and resets
   * the number of tries.
   */
  put(kind: string, key: string, value: string, ttlMs: number): Promise<void>
  /**
   * Removes and returns the value, or returns null if there is none. Only one of several
   * simultaneous callers gets the value.
   */
  take(kind: string, key: string): Promise<string | null>
  peek(kind: string, key: string): Promise<string | null>
  /**
   * Counts a try at guessing the value, before the caller compares it. Returns the number of tries
   * that are left. Returns null if there is no value. A try beyond `max` deletes the value and also
   * returns null.
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
 * Encrypts short-lived values before they leave the process, so that a dump of the storage reveals
 * nothing.
 */
type SealedValues = {
  /**
   * Returns the name under which a value is stored: its kind in clear text and a keyed hash of its
   * key.
   */
  readonly nameOf: (kind: string, key: string) => string
  readonly seal: (name: string, value: string) => Buffer
  readonly open: (name: string, sealed: Buffer | null) => string | null
}

/**
 * Creates the encryption of short-lived values. The keys for names and values are derived from
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

const VALUES_MAX = 50_000

type Entry = { readonly value: string; readonly until: number; tries: number }

/**
 * Creates a store in the memory of this process with a limited number of values. `now` is in
 * milliseconds of a monotonic clock.
 */
export function createMemoryShortLived(now: () => number): ShortLived {
  const all = new Map<string, Entry>()
  const nameOf = (kind: string, key: string): string => `${kind}\n${key}`
  const find = (name: string): Entry | null => {
    const entry = all.get(name)
    if (entry !== undefined && entry.until > now()) return entry
    all.delete(name)
    return null
  }
  return {
    put: async (kind, key, value, ttlMs) => {
      const name = nameOf(kind, key)
      all.delete(name)
      if (all.size >= VALUES_MAX) dropOldest(all)
      all.set(name, { value, until: now() + ttlMs, tries: 0 })
    },
    take: async (kind, key) => {
      const name = nameOf(kind, key)
      const entry = find(name)
      all.delete(name)
      return entry?.value ?? null
    },
    peek: async (kind, key) => find(nameOf(kind, key))?.value ?? null,
    countTry: async (kind, key, max) => {
      const name = nameOf(kind, key)
      const entry = find(name)
      if (entry === null) return null
      entry.tries += 1
      if (entry.tries <= max) return max - entry.tries
      all.delete(name)
      return null
    },
  }
}

function dropOldest(all: Map<string, Entry>): void {
  const [oldest] = all.keys()
  if (oldest !== undefined) all.delete(oldest)
}
