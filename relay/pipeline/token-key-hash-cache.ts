import type { Vault } from '#infra/vault/port.ts'

/** The maximum number of keys, which need about 250 bytes each. */
export const CACHED_KEYS_MAX = 16_384

/**
 * Remembers the hashes of keys that calls have used, because computing a hash takes longer than all
 * other checks of a caller. Only keys of tokens that exist are added, so that wrong keys displace
 * none. An entry says nothing about the rights of a token, which are checked for each call.
 */
export class TokenKeyHashCache {
  private readonly hashes = new Map<string, string>()

  find(key: string): string | undefined {
    return this.hashes.get(key)
  }

  /**
   * Adds the hash of a key. If there are too many, all are forgotten: keys in use return with their
   * next call, and removing one at a time costs more if more keys than the maximum are in use.
   */
  add(key: string, hash: string): void {
    if (this.hashes.size >= CACHED_KEYS_MAX) this.hashes.clear()
    this.hashes.set(copyOf(key), hash)
  }
}

/** Returns a copy, because a key that was cut out of a header keeps the whole header in memory. */
const copyOf = (key: string): string => Buffer.from(key, 'latin1').toString('latin1')

const ofVaults = new WeakMap<Pick<Vault, 'keyedHash'>, TokenKeyHashCache>()

/** Returns the hashes that were computed with the secret of this vault. */
export function tokenKeyHashCacheOf(vault: Pick<Vault, 'keyedHash'>): TokenKeyHashCache {
  const existing = ofVaults.get(vault)
  if (existing !== undefined) return existing
  const hashes = new TokenKeyHashCache()
  ofVaults.set(vault, hashes)
  return hashes
}
