import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Sealed } from '#domain/shared/event.ts'
import { decrypt, encrypt } from './cipher.ts'
import type { KeyRing } from './keys-derived-from-secret-key.ts'
import type { Vault } from './port.ts'

const CACHED_MAX = 10_000
/** The time in milliseconds for which a process caches a data key. */
const CACHED_MS = 60_000
/**
 * Before a process opens a text, it checks whether keys were destroyed, unless it has checked
 * within this time in milliseconds.
 */
const CHECKED_MS = 450
/**
 * The time in milliseconds for which the destruction of a key waits before it ends. This time is
 * longer than `CHECKED_MS`, so that no process opens a text with this key after the destruction has
 * ended.
 */
const DESTROYED_MS = 500
const FORMAT = 's1.'

/**
 * Creates functions that encrypt texts by and about a user with the user's data key. After the data
 * key is destroyed, these texts are unreadable.
 */
export function createSealing(
  pg: Pool,
  ring: KeyRing,
): Pick<Vault, 'seal' | 'open' | 'sealBytes' | 'openBytes' | 'destroyUser' | 'withDataKey'> {
  const { find, findOrMake, clear } = createDataKeys(pg, ring)
  const forgetDestroyed = createCheck(pg, clear)
  const sealBytes = async (userId: number, bytes: Uint8Array): Promise<Buffer> => {
    const dataKey = await findOrMake(userId)
    // If the user was erased, new texts are encrypted with a random key that is not stored.
    const key = dataKey === 'destroyed' ? createSecretKey(randomBytes(32)) : dataKey
    return encrypt(key, contextOf(userId), bytes)
  }
  const openBytes = async (userId: number, sealed: Uint8Array): Promise<Buffer | null> => {
    await forgetDestroyed()
    const key = await find(userId)
    if (key === null || key === 'destroyed') return null
    return decrypt(key, contextOf(userId), sealed)
  }
  return {
    sealBytes,
    openBytes,
    seal: async (userId, text) => {
      const sealed = await sealBytes(userId, Buffer.from(text, 'utf8'))
      return `${FORMAT}${sealed.toString('base64url')}` as Sealed
    },
    open: async (userId, sealed) => {
      if (!sealed.startsWith(FORMAT)) throw new Error('a sealed text has an unknown format')
      const bytes = Buffer.from(sealed.slice(FORMAT.length), 'base64url')
      return (await openBytes(userId, bytes))?.toString('utf8') ?? null
    },
    destroyUser: async (userId) => {
      await pg.query(
        `with gone as (delete from vault.secrets where owner = $2),
           noted as (insert into vault.erased_rows (user_id) values ($1))
         insert into vault.user_keys (user_id, kid, wrapped_key) values ($1, $3, $4)
         on conflict (user_id) do update set wrapped_key = excluded.wrapped_key`,
        [userId, contextOf(userId), ring.kid, NO_KEY],
      )
      clear()
      await delay(DESTROYED_MS)
    },
    withDataKey: async (userIds) => {
      const { rows } = await pg.query<{ id: number }>(
        `select id::float8 as id from unnest($1::int8[]) as t (id) where not exists (
           select from vault.user_keys where user_id = id and wrapped_key = ''
         )`,
        [userIds],
      )
      return rows.map(({ id }) => id)
    },
  }
}

/**
 * Returns a function that calls `onDestroyed` if any process has destroyed a key. The function
 * reads the number of destroyed keys, which only increases, at most once per `CHECKED_MS`
 * milliseconds.
 */
function createCheck(pg: Pool, onDestroyed: () => void): () => Promise<void> {
  let known = 0
  let last = { startedAt: Number.NEGATIVE_INFINITY, done: Promise.resolve() }
  const check = async (): Promise<void> => {
    const { rows } = await pg.query<{ destroyed: string }>({
      name: 'vault-destroyed-keys',
      text: `select count(*) as destroyed from vault.user_keys where wrapped_key = ''`,
    })
    const destroyed = Number(rows[0]?.destroyed)
    if (destroyed <= known) return
    known = destroyed
    onDestroyed()
  }
  return async () => {
    const startedAt = performance.now()
    // A check that started earlier may have seen the keys as they were before the last destruction.
    if (startedAt - last.startedAt >= CHECKED_MS) {
      const current = { startedAt, done: check() }
      last = current
      current.done.catch(() => {
        if (last === current) last = { ...current, startedAt: Number.NEGATIVE_INFINITY }
      })
    }
    await last.done
  }
}

/** Reads data keys, caches them, and creates the key of a user on first use. */
function createDataKeys(pg: Pool, ring: KeyRing) {
  const { remember, recall, generation, clear } = createCache()
  const find = async (userId: number): Promise<KeyObject | 'destroyed' | null> => {
    const dataKey = recall(userId)
    if (dataKey !== undefined) return dataKey
    const before = generation()
    const { rows } = await pg.query<{ wrapped_key: Buffer }>({
      name: 'vault-user-key',
      text: 'select wrapped_key from vault.user_keys where user_id = $1',
      values: [userId],
    })
    const wrapped = rows[0]?.wrapped_key
    if (wrapped === undefined) return null
    if (wrapped.length === 0) return 'destroyed'
    return remember(userId, ring.unwrap(contextOf(userId), wrapped), before)
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
  return { find, findOrMake, clear }
}

/** The stored value of a destroyed key, which prevents the creation of a new key for the user. */
const NO_KEY = Buffer.alloc(0)

/**
 * A cache of data keys. Clearing the cache begins a new generation. A key whose read from the
 * database began in an earlier generation is not cached, because it may be destroyed by now.
 */
function createCache() {
  let generation = 0
  const cached = new Map<number, { readonly key: KeyObject; readonly until: number }>()
  return {
    generation: (): number => generation,
    remember: (userId: number, key: KeyObject, readIn: number): KeyObject => {
      if (readIn !== generation) return key
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
    clear: (): void => {
      generation += 1
      cached.clear()
    },
  }
}

const contextOf = (userId: number): string => `user:${userId}`
