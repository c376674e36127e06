import { createSecretKey, hkdfSync } from 'node:crypto'
import type { Pool } from 'pg'
import { ensureSchema } from '../postgres/ensure-schema.ts'
import { decrypt, encrypt } from '../vault/cipher.ts'
import { createKeyedHash } from '../vault/keys-derived-from-secret-key.ts'

/**
 * Stores values that live for minutes and are used once, such as verification codes. If the store
 * can't be reached, methods reject with `ShortLivedUnavailable`, and callers must deny access.
 */
export interface ShortLived {
  /**
   * Stores a value for `ttlMs` milliseconds. Replaces an older value of this key, and resets the
   * number of tries.
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

const TABLES = `
  create table if not exists auth.short_lived (
    name text primary key,
    value bytea not null,
    until int8 not null,
    tries int4 not null default 0
  );
  create index if not exists short_lived_until on auth.short_lived (until);
`

const SWEEP_EVERY_MS = 60_000

type Row = { readonly value: Buffer; readonly until: string }

/**
 * Creates a store in Postgres, for sites without Redis. All processes share the values, which
 * survive restarts. `now` is in Unix milliseconds.
 */
export async function createPostgresShortLived(
  pg: Pool,
  secretKey: Uint8Array,
  now: () => number,
): Promise<ShortLived> {
  await ensureSchema(pg, 'auth', TABLES)
  const { nameOf, seal, open } = createSealedValues(secretKey)
  const sweep = createSweep(pg, now)
  const liveValue = (name: string, row: Row | undefined): string | null =>
    row === undefined || Number(row.until) <= now() ? null : open(name, row.value)
  return {
    put: async (kind, key, value, ttlMs) => {
      await sweep()
      const name = nameOf(kind, key)
      await pg.query(
        `insert into auth.short_lived (name, value, until) values ($1, $2, $3)
         on conflict (name)
           do update set value = excluded.value, until = excluded.until, tries = 0`,
        [name, seal(name, value), Math.ceil(now() + ttlMs)],
      )
    },
    take: async (kind, key) => {
      const name = nameOf(kind, key)
      const { rows } = await pg.query<Row>(
        'delete from auth.short_lived where name = $1 returning value, until',
        [name],
      )
      return liveValue(name, rows[0])
    },
    peek: async (kind, key) => {
      const name = nameOf(kind, key)
      const { rows } = await pg.query<Row>(
        'select value, until from auth.short_lived where name = $1',
        [name],
      )
      return liveValue(name, rows[0])
    },
    countTry: async (kind, key, max) => {
      const name = nameOf(kind, key)
      const { rows } = await pg.query<{ tries: number }>(
        `update auth.short_lived set tries = tries + 1 where name = $1 and until > $2
         returning tries`,
        [name, Math.ceil(now())],
      )
      const tries = rows[0]?.tries
      if (tries === undefined) return null
      if (tries <= max) return max - tries
      // The condition on `tries` keeps a value that was stored in the meantime, because its tries
      // are 0.
      await pg.query('delete from auth.short_lived where name = $1 and tries > $2', [name, max])
      return null
    },
  }
}

/** Returns a function that deletes expired values, at most once a minute. */
function createSweep(pg: Pool, now: () => number): () => Promise<void> {
  let sweptAt = Number.NEGATIVE_INFINITY
  return async () => {
    if (now() - sweptAt < SWEEP_EVERY_MS) return
    sweptAt = now()
    await pg.query('delete from auth.short_lived where until <= $1', [Math.floor(now())])
  }
}
