import { createHash, randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import { addColumn, createIndex, ensureSchema } from '../postgres/ensure-schema.ts'

const IDLE_MS = 12 * 3_600_000
const ABSOLUTE_MS = 7 * 86_400_000
/**
 * The minimum time in milliseconds between two recorded uses of a session, which avoids a write on
 * every request.
 */
const TOUCH_EVERY_MS = 60_000

export type Session = {
  /** The SHA-256 of the session id, in hex. */
  readonly hash: string
  readonly userId: number
  /** The user's `authVersion` at login. A later version invalidates the session. */
  readonly authVersion: number
  readonly isByTemporaryPassword: boolean
  /**
   * The time of the user's latest authentication in this session, at login or later, in Unix
   * milliseconds.
   */
  readonly provedAt: number
}

/**
 * The client that started a session. This data is deleted with the session. Events contain the IP
 * address only in encrypted form, and never the user agent.
 */
export type SessionOrigin = {
  readonly ip: string
  readonly userAgent: string
  readonly isByTemporaryPassword?: boolean
}

/** A session as the list of the user's sessions shows it. Times are in Unix milliseconds. */
export type ListedSession = Pick<SessionOrigin, 'ip' | 'userAgent'> & {
  readonly id: number
  readonly hash: string
  readonly startedAt: number
  readonly seenAt: number
}

/**
 * Stores the sessions of users. A session has a random id of 256 bits, and only the SHA-256 of the
 * id is stored.
 */
export type Sessions = {
  /** Starts a session. Returns its id, which the cookie contains. */
  start(userId: number, authVersion: number, from?: SessionOrigin): Promise<string>
  /**
   * Finds a session by its id. Returns null if there is no session with this id, or if the session
   * has ended, was idle for 12 hours or is older than 7 days.
   */
  find(id: string): Promise<Session | null>
  /**
   * Returns those of the session hashes whose sessions have not ended and are at most 7 days old.
   * Sessions without recent requests are included, because an open websocket counts as a use of its
   * session.
   */
  live(hashes: readonly string[]): Promise<Set<string>>
  /**
   * Returns the user's sessions that are valid for this `authVersion`, the most recently used
   * first, at most 100.
   */
  listOf(userId: number, authVersion: number): Promise<ListedSession[]>
  /** Records that the user has authenticated again in this session. */
  prove(hash: string): Promise<void>
  end(hash: string): Promise<void>
  /** Ends one session. Returns false when the user has no session with this id. */
  endOne(userId: number, id: number): Promise<boolean>
  endAllOf(userId: number, exceptHash?: string): Promise<number>
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
  ${addColumn('auth.sessions', 'id', 'int8 generated always as identity')}
  ${addColumn('auth.sessions', 'ip', "text not null default ''")}
  ${addColumn('auth.sessions', 'user_agent', "text not null default ''")}
  ${addColumn('auth.sessions', 'is_temporary', 'boolean not null default false')}
  ${addColumn('auth.sessions', 'proved_at', 'int8')}
  ${createIndex('sessions_user', 'auth.sessions', '(user_id)')}
  ${createIndex('sessions_seen', 'auth.sessions', '(seen_at)')}
`

const UNKNOWN: SessionOrigin = { ip: '', userAgent: '' }
const USER_AGENT_MAX = 300
const LISTED_MAX = 100

export const sessionHash = (id: string): string => createHash('sha256').update(id).digest('hex')

type ListedRow = Pick<Row, 'started_at' | 'seen_at'> & {
  id: string
  hash: string
  ip: string
  user_agent: string
}
type Row = {
  user_id: string
  auth_version: string
  started_at: string
  seen_at: string
  is_temporary: boolean
  proved_at: string | null
}

/** Creates the session store in the schema `auth`. `now` is in Unix milliseconds. */
export async function createSessions(pg: Pool, now: () => number): Promise<Sessions> {
  await ensureSchema(pg, 'auth', TABLES)
  const touch = async (hash: string, seenAt: number) => {
    await pg.query('update auth.sessions set seen_at = $2 where hash = $1', [hash, seenAt])
  }
  return {
    start: async (userId, authVersion, from = UNKNOWN) => {
      const { ip, userAgent, isByTemporaryPassword = false } = from
      const id = randomBytes(32).toString('base64url')
      await pg.query(
        `insert into auth.sessions
           (hash, user_id, auth_version, started_at, seen_at, ip, user_agent, is_temporary)
         values ($1, $2, $3, $4, $4, $5, $6, $7)`,
        [sessionHash(id), userId, authVersion, now(), ip, textOf(userAgent), isByTemporaryPassword],
      )
      return id
    },
    find: async (id) => {
      if (!/^[\w-]{43}$/.test(id)) return null
      const hash = sessionHash(id)
      const { rows } = await pg.query<Row>({
        name: 'session-by-hash',
        text: `select user_id, auth_version, started_at, seen_at, is_temporary, proved_at
               from auth.sessions where hash = $1`,
        values: [hash],
      })
      const [row] = rows
      if (row === undefined) return null
      const at = now()
      const idleMs = at - Number(row.seen_at)
      if (idleMs > IDLE_MS || at - Number(row.started_at) > ABSOLUTE_MS) return null
      if (idleMs > TOUCH_EVERY_MS) await touch(hash, at)
      return sessionOf(hash, row)
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
    prove: async (hash) => {
      await pg.query('update auth.sessions set proved_at = $2 where hash = $1', [hash, now()])
    },
    end: async (hash) => {
      await pg.query('delete from auth.sessions where hash = $1', [hash])
    },
    ...userSessions(pg, now),
    sweep: async () => {
      const at = now()
      await pg.query('delete from auth.sessions where seen_at < $1 or started_at < $2', [
        at - IDLE_MS,
        at - ABSOLUTE_MS,
      ])
    },
  }
}

const sessionOf = (hash: string, row: Row): Session => ({
  hash,
  userId: Number(row.user_id),
  authVersion: Number(row.auth_version),
  isByTemporaryPassword: row.is_temporary,
  provedAt: Number(row.proved_at ?? row.started_at),
})

function userSessions(
  pg: Pool,
  now: () => number,
): Pick<Sessions, 'listOf' | 'endOne' | 'endAllOf'> {
  return {
    listOf: async (userId, authVersion) => {
      const at = now()
      const { rows } = await pg.query<ListedRow>(
        `select id, hash, started_at, seen_at, ip, user_agent from auth.sessions
         where user_id = $1 and auth_version = $2 and seen_at >= $3 and started_at >= $4
         order by seen_at desc, id desc limit ${LISTED_MAX}`,
        [userId, authVersion, at - IDLE_MS, at - ABSOLUTE_MS],
      )
      return rows.map(({ id, hash, started_at, seen_at, ip, user_agent }) => ({
        id: Number(id),
        hash,
        startedAt: Number(started_at),
        seenAt: Number(seen_at),
        ip,
        userAgent: user_agent,
      }))
    },
    endOne: async (userId, id) => {
      const { rowCount } = await pg.query(
        'delete from auth.sessions where user_id = $1 and id = $2',
        [userId, id],
      )
      return rowCount === 1
    },
    endAllOf: async (userId, exceptHash = '') => {
      const { rowCount } = await pg.query(
        'delete from auth.sessions where user_id = $1 and hash <> $2',
        [userId, exceptHash],
      )
      return rowCount ?? 0
    },
  }
}

/**
 * Returns the `User-Agent` without what Postgres can't store, and limits its length. Clients can
 * send any text in this header.
 */
const textOf = (userAgent: string): string =>
  userAgent.replaceAll('\0', '').toWellFormed().slice(0, USER_AGENT_MAX)
