import { createHash, randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import { ensureSchema } from '../postgres/ensure-schema.ts'

const IDLE_MS = 12 * 3_600_000
const ABSOLUTE_MS = 7 * 86_400_000
/** A session in use is marked as such at most this often, to spare a write per request. */
const TOUCH_EVERY_MS = 60_000

export type Session = {
  /** SHA-256 of the id, hex. */
  readonly hash: string
  readonly userId: number
  /** The user's `authVersion` at login: a later one voids the session. */
  readonly authVersion: number
}

/** Server-side sessions: 256-bit random ids, kept as their SHA-256 alone, revocable. */
export type Sessions = {
  /** Starts a session and answers its id, for the cookie. Told once, kept nowhere. */
  start(userId: number, authVersion: number): Promise<string>
  /** null when unknown, ended, idle for 12 hours or older than 7 days. */
  find(id: string): Promise<Session | null>
  /** Those of the hashes that name a session which has not ended. An open socket is no idleness. */
  live(hashes: readonly string[]): Promise<Set<string>>
  end(hash: string): Promise<void>
  endAllOf(userId: number): Promise<void>
  /** Removes what has expired. */
  sweep(): Promise<void>
}

const TABLES = `
  create table if not exists auth.sessions (
    hash text primary key,
    user_id int8 not null,
    auth_version int8 not null,
    started_at int8 not null,
    seen_at int8 not null
  );
  create index if not exists sessions_user on auth.sessions (user_id);
  create index if not exists sessions_seen on auth.sessions (seen_at);
`

export const sessionHash = (id: string): string => createHash('sha256').update(id).digest('hex')

type Row = { user_id: string; auth_version: string; started_at: string; seen_at: string }

/** Sessions in the schema `auth`, which is made when missing. `now` in unix milliseconds. */
export async function createSessions(pg: Pool, now: () => number): Promise<Sessions> {
  await ensureSchema(pg, 'auth', TABLES)
  const touch = async (hash: string, seenAt: number) => {
    await pg.query('update auth.sessions set seen_at = $2 where hash = $1', [hash, seenAt])
  }
  return {
    start: async (userId, authVersion) => {
      const id = randomBytes(32).toString('base64url')
      await pg.query(
        `insert into auth.sessions (hash, user_id, auth_version, started_at, seen_at)
         values ($1, $2, $3, $4, $4)`,
        [sessionHash(id), userId, authVersion, now()],
      )
      return id
    },
    find: async (id) => {
      if (!/^[\w-]{43}$/.test(id)) return null
      const hash = sessionHash(id)
      const { rows } = await pg.query<Row>({
        name: 'session-by-hash',
        text: `select user_id, auth_version, started_at, seen_at
               from auth.sessions where hash = $1`,
        values: [hash],
      })
      const [row] = rows
      if (row === undefined) return null
      const at = now()
      const idleMs = at - Number(row.seen_at)
      if (idleMs > IDLE_MS || at - Number(row.started_at) > ABSOLUTE_MS) return null
      if (idleMs > TOUCH_EVERY_MS) await touch(hash, at)
      return { hash, userId: Number(row.user_id), authVersion: Number(row.auth_version) }
    },
    live: async (hashes) => {
      const at = now()
      const { rows } = await pg.query<{ hash: string }>({
        name: 'live-sessions',
        text: `select hash from auth.sessions
               where hash = any($1) and started_at >= $2`,
        values: [hashes, at - ABSOLUTE_MS],
      })
      return new Set(rows.map(({ hash }) => hash))
    },
    end: async (hash) => {
      await pg.query('delete from auth.sessions where hash = $1', [hash])
    },
    endAllOf: async (userId) => {
      await pg.query('delete from auth.sessions where user_id = $1', [userId])
    },
    sweep: async () => {
      const at = now()
      await pg.query('delete from auth.sessions where seen_at < $1 or started_at < $2', [
        at - IDLE_MS,
        at - ABSOLUTE_MS,
      ])
    },
  }
}
