import type { Vault } from '#infra/vault/port.ts'

/** The maximum number of keys, which need about 250 bytes each. */
export const CACHED_KEYS_MAX = 16_384

/**
 * Caches the hashes of keys that calls have used, because computing a hash takes longer than all
 * other checks of a caller. Only keys of existing tokens are added, so that wrong keys displace no
 * entries. An entry says nothing about the rights of a token, which are checked for each call.
 */
export class TokenKeyHashCache {
  private readonly hashes = new Map<string, string>()

  find(key: string): string | undefined {
    return this.hashes.get(key)
  }

  /**
   * Adds the hash of a key. A full cache is cleared first, and keys in use return with their next
   * call. Removing one entry at a time would cost more if more keys than the maximum are in use.
   */
  add(key: string, hash: string): void {
    if (this.hashes.size >= CACHED_KEYS_MAX) this.hashes.clear()
    this.hashes.set(copyOf(key), hash)
  }
}

/** Returns a copy, because a key that was cut out of a header keeps the whole header in memory. */
const copyOf = (key: string): string => Buffer.from(key, 'latin1').toString('latin1')

const cachesOfVaults = new WeakMap<Pick<Vault, 'keyedHash'>, TokenKeyHashCache>()

/** Returns the cache of the hashes that were computed with the secret of this vault. */
export function tokenKeyHashCacheOf(vault: Pick<Vault, 'keyedHash'>): TokenKeyHashCache {
  const existing = cachesOfVaults.get(vault)
  if (existing !== undefined) return existing
  const hashes = new TokenKeyHashCache()
  cachesOfVaults.set(vault, hashes)
  return hashes
}
