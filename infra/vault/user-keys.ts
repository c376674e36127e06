import type { Pool } from 'pg'
import type { Sealed } from '#domain/shared/event.ts'
import { decrypt, encrypt } from './cipher.ts'
import type { KeyRing } from './key-ring.ts'
import type { Vault } from './port.ts'

const CACHED_MAX = 10_000
const FORMAT = 's1.'

/** Texts of and about a user, under a data key of that user's: without it they are noise. */
export function createSealing(pg: Pool, ring: KeyRing): Pick<Vault, 'seal' | 'open'> {
  const cached = new Map<number, Buffer>()
  const remember = (userId: number, key: Buffer): Buffer => {
    const oldest = cached.keys().next().value
    if (cached.size >= CACHED_MAX && oldest !== undefined) cached.delete(oldest)
    cached.set(userId, key)
    return key
  }
  const find = async (userId: number): Promise<Buffer | null> => {
    const known = cached.get(userId)
    if (known !== undefined) return known
    const { rows } = await pg.query<{ wrapped_key: Buffer }>({
      name: 'vault-user-key',
      text: 'select wrapped_key from vault.user_keys where user_id = $1',
      values: [userId],
    })
    const wrapped = rows[0]?.wrapped_key
    return wrapped === undefined ? null : remember(userId, ring.unwrap(contextOf(userId), wrapped))
  }
  const findOrMake = async (userId: number): Promise<Buffer> => {
    const known = await find(userId)
    if (known !== null) return known
    const { wrapped } = ring.newDataKey(contextOf(userId))
    await pg.query(
      `insert into vault.user_keys (user_id, kid, wrapped_key) values ($1, $2, $3)
       on conflict (user_id) do nothing`,
      [userId, ring.kid, wrapped],
    )
    const made = await find(userId)
    if (made === null) throw new Error(`the data key of user ${userId} vanished while being made`)
    return made
  }
  return {
    seal: async (userId, text) => {
      const sealed = encrypt(await findOrMake(userId), contextOf(userId), Buffer.from(text, 'utf8'))
      return `${FORMAT}${sealed.toString('base64url')}` as Sealed
    },
    open: async (userId, sealed) => {
      if (!sealed.startsWith(FORMAT)) throw new Error('a sealed text is in no known format')
      const key = await find(userId)
      if (key === null) return null
      const bytes = Buffer.from(sealed.slice(FORMAT.length), 'base64url')
      return decrypt(key, contextOf(userId), bytes).toString('utf8')
    },
  }
}

const contextOf = (userId: number): string => `user:${userId}`
