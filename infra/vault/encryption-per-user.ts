import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import type { Sealed } from '#domain/shared/event.ts'
import { decrypt, encrypt } from './cipher.ts'
import type { KeyRing } from './keys-derived-from-secret-key.ts'
import type { Vault } from './port.ts'

const CACHED_MAX = 10_000
/**
 * The time for which a process caches a data key. For this time, other processes can still decrypt
 * the texts of a user whose key was destroyed.
 */
const CACHED_MS = 60_000
const FORMAT = 's1.'

/**
 * Creates functions that encrypt texts by and about a user with the user's data key. After the data
 * key is destroyed, these texts are unreadable.
 */
export function createSealing(
  pg: Pool,
  ring: KeyRing,
): Pick<Vault, 'seal' | 'open' | 'destroyUser' | 'forgetDataKeys'> {
  const { remember, recall, forget, clear } = createCache()
  const find = async (userId: number): Promise<KeyObject | 'destroyed' | null> => {
    const dataKey = recall(userId)
    if (dataKey !== undefined) return dataKey
    const { rows } = await pg.query<{ wrapped_key: Buffer }>({
      name: 'vault-user-key',
      text: 'select wrapped_key from vault.user_keys where user_id = $1',
      values: [userId],
    })
    const wrapped = rows[0]?.wrapped_key
    if (wrapped === undefined) return null
    if (wrapped.length === 0) return 'destroyed'
    return remember(userId, ring.unwrap(contextOf(userId), wrapped))
  }
  const findOrMake = async (userId: number): Promise<KeyObject | 'destroyed'> => {
    const dataKey = await find(userId)
    if (dataKey !== null) return dataKey
    const { wrapped } = ring.newDataKey(contextOf(userId))
    await pg.query(
      `insert into vault.user_keys (user_id, kid, wrapped_key) values ($1, $2, $3)
       on conflict (user_id) do nothing`,
      [userId, ring.kid, wrapped],
    )
    const made = await find(userId)
    if (made === null)
      throw new Error(`the data key of user ${userId} disappeared while it was created`)
    return made
  }
  return {
    seal: async (userId, text) => {
      const found = await findOrMake(userId)
      // After the user was erased, new texts are encrypted with a random key that is not stored.
      const key = found === 'destroyed' ? createSecretKey(randomBytes(32)) : found
      const sealed = encrypt(key, contextOf(userId), Buffer.from(text, 'utf8'))
      return `${FORMAT}${sealed.toString('base64url')}` as Sealed
    },
    open: async (userId, sealed) => {
      if (!sealed.startsWith(FORMAT)) throw new Error('a sealed text has an unknown format')
      const key = recall(userId) ?? (await find(userId))
      if (key === null || key === 'destroyed') return null
      const bytes = Buffer.from(sealed.slice(FORMAT.length), 'base64url')
      return decrypt(key, contextOf(userId), bytes).toString('utf8')
    },
    destroyUser: async (userId) => {
      await pg.query(
        `with gone as (delete from vault.secrets where owner = $2)
         insert into vault.user_keys (user_id, kid, wrapped_key) values ($1, $3, $4)
         on conflict (user_id) do update set wrapped_key = excluded.wrapped_key`,
        [userId, contextOf(userId), ring.kid, NO_KEY],
      )
      forget(userId)
    },
    forgetDataKeys: clear,
  }
}

/** The stored value of a destroyed key, which prevents the creation of a new key for the user. */
const NO_KEY = Buffer.alloc(0)

function createCache() {
  const cached = new Map<number, { readonly key: KeyObject; readonly until: number }>()
  return {
    remember: (userId: number, key: KeyObject): KeyObject => {
      const oldest = cached.keys().next().value
      if (cached.size >= CACHED_MAX && oldest !== undefined) cached.delete(oldest)
      cached.set(userId, { key, until: performance.now() + CACHED_MS })
      return key
    },
    recall: (userId: number): KeyObject | undefined => {
      const dataKey = cached.get(userId)
      if (dataKey === undefined || dataKey.until > performance.now()) return dataKey?.key
      cached.delete(userId)
      return undefined
    },
    forget: (userId: number): void => {
      cached.delete(userId)
    },
    clear: (): void => cached.clear(),
  }
}

const contextOf = (userId: number): string => `user:${userId}`
