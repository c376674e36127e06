import { describe, expect, it, vi } from 'vitest'
import { authenticate } from '#relay/pipeline/authenticate.ts'
import { CACHED_KEYS_MAX, TokenKeyHashCache } from '#relay/pipeline/token-key-hash-cache.ts'

const KEY = 'k'.repeat(48)
const token = { userId: 1, isEnabled: true, terms: { expiresAt: null, group: '' } }
const user = { isEnabled: true, role: 1, group: 'default' }

/** Authenticates with keys, of which only `KEY` is that of a token. */
function setup() {
  const keyedHash = vi.fn((_purpose: string, key: string) => `hash-of-${key}`)
  const deps = {
    views: {
      tokens: { find: (hash: string) => (hash === `hash-of-${KEY}` ? token : undefined) },
      users: { find: () => user },
    },
    vault: { keyedHash },
    failedKeys: { waitSeconds: () => 0, add: () => undefined, failed: () => undefined },
  } as unknown as Parameters<typeof authenticate>[0]
  const call = async (key: string): Promise<void> => {
    const headers = { authorization: `Bearer sk-${key}` }
    await Promise.resolve(authenticate(deps, { headers, url: '/' }, '127.0.0.1', 0)).catch(() => {})
  }
  return { call, keyedHash }
}

describe('the cache of the hashes of token keys', () => {
  it('the hash of the key of a token is computed once', async () => {
    const { call, keyedHash } = setup()
    for (let index = 0; index < 3; index += 1) await call(KEY)
    expect(keyedHash).toHaveBeenCalledTimes(1)
  })

  it('wrong keys are not remembered', async () => {
    const { call, keyedHash } = setup()
    const wrong = 'w'.repeat(48)
    for (let index = 0; index < 3; index += 1) await call(wrong)
    expect(keyedHash).toHaveBeenCalledTimes(3)
  })

  it('not more than the maximum are kept', () => {
    const hashes = new TokenKeyHashCache()
    for (let index = 0; index < CACHED_KEYS_MAX * 2; index += 1) hashes.add(`key-${index}`, 'hash')
    const kept = Array.from({ length: CACHED_KEYS_MAX * 2 }, (_, index) =>
      hashes.find(`key-${index}`),
    )
    expect(kept.filter(Boolean)).toHaveLength(CACHED_KEYS_MAX)
    expect(kept.at(-1)).toBe('hash')
  })
})
