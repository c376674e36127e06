import { createHash, type Hash } from 'node:crypto'
import { deserialize, serialize } from 'node:v8'
import type { Pool, PoolClient } from 'pg'
import { AUDIT_STATE_VERSION, type AuditState } from '#domain/audit/state.ts'
import { ensureSchema } from '../postgres/ensure-schema.ts'
import { inTransaction } from '../postgres/in-transaction.ts'
import type { Vault } from '../vault/port.ts'
import { GrowingTree } from './append-only-merkle-tree.ts'

/**
 * The DDL drops the table `audit_jobs.state`. Earlier releases stored the whole state in one row of
 * this table, but Postgres limits a row to 1 GB.
 */
const DDL = `
  drop table if exists audit_jobs.state;
  create table if not exists audit_jobs.verified (
    is_only boolean primary key default true check (is_only),
    position int8 not null,
    mac text not null
  );
  create table if not exists audit_jobs.verified_parts (
    section int4 not null,
    part int4 not null,
    bytes bytea not null,
    primary key (section, part)
  );
  create table if not exists audit_jobs.progress (
    id text primary key,
    stage text not null,
    done int8 not null,
    total int8 not null,
    begun_at timestamptz not null,
    updated_at timestamptz not null
  )`

export const ensureAuditTables = (pg: Pool): Promise<void> => ensureSchema(pg, 'audit_jobs', DDL)

/**
 * The maximum number of bytes in one row. A larger state is split into several rows, because
 * Postgres limits a row to 1 GB.
 */
export const PART_BYTES_MAX = 8 * 1024 * 1024

/**
 * The state after a verification of all events up to some position, and the Merkle tree of the same
 * events.
 */
export type Verified = {
  readonly state: AuditState
  readonly tree: GrowingTree
  /**
   * The index of the first tile (group of leaf hashes in the log) that the next incremental
   * verification compares.
   */
  readonly nextTile: number
  /**
   * The id of the user with whom the next incremental verification begins its comparison of rows.
   */
  readonly nextAccount: number
}

/**
 * The first section of a stored state. Each of the other sections is a hash table that was left out
 * of `state`.
 */
type Stored = {
  readonly version: number
  readonly state: AuditState
  readonly size: number
  readonly subtrees: readonly Uint8Array[]
  readonly nextTile: number
  /**
   * The id of the user with whom the next comparison of rows begins. Missing in a state that an
   * earlier release stored.
   */
  readonly nextAccount?: number
}

type Deps = { readonly pg: Pool; readonly vault: Pick<Vault, 'keyedHash'> }

/**
 * Returns the state after the last verification that found nothing in the history. Returns null if
 * there is no such state, or if a release with another version of the state stored it. Also returns
 * null if the MAC of the state is wrong, because a state that was edited with SQL could hide
 * findings.
 */
export async function readVerified({ pg, vault }: Deps): Promise<Verified | null> {
  // Another process may store a state meanwhile, so all parts are read in one snapshot.
  const begin = 'begin isolation level repeatable read read only'
  const sections = await inTransaction(pg, (client) => readSections(client, vault), { begin })
  const [first, ...tables] = sections ?? []
  if (first === undefined) return null
  const { version, state, size, subtrees, nextTile, nextAccount } = deserialize(first) as Stored
  if (version !== AUDIT_STATE_VERSION) return null
  for (const [index, table] of hashTablesOf(state).entries()) {
    table.slots = new Uint32Array(tables[index]?.buffer ?? new ArrayBuffer(0))
  }
  const tree = new GrowingTree(
    size,
    subtrees.map((hash) => Buffer.from(hash)),
  )
  return { state, nextTile, nextAccount: nextAccount ?? 0, tree }
}

/**
 * Stores the state in rows of bounded size, in one transaction. Replaces the state that was stored
 * before.
 */
export async function writeVerified(
  { pg, vault }: Deps,
  { state, tree, nextTile, nextAccount }: Verified,
): Promise<void> {
  const subtrees = tree.frontier().map((hash) => new Uint8Array(hash))
  const first: Stored = {
    ...{ version: AUDIT_STATE_VERSION, state: withoutSlots(state) },
    ...{ size: tree.size, subtrees, nextTile, nextAccount },
  }
  // The hash tables are not copied before they are stored, because copies would need the same
  // memory again.
  const tables = hashTablesOf(state).map(({ slots }) => {
    return new Uint8Array(slots.buffer, slots.byteOffset, slots.byteLength)
  })
  await inTransaction(pg, async (client) => {
    // The row is changed first, which locks the row. Two processes therefore store their states one
    // after the other.
    await client.query(
      `insert into audit_jobs.verified (position, mac) values ($1, '')
       on conflict (is_only) do update set position = excluded.position, mac = ''`,
      [state.position],
    )
    await client.query('delete from audit_jobs.verified_parts')
    const hash = createHash('sha256')
    for (const [section, bytes] of [serialize(first), ...tables].entries()) {
      await writeSection(client, section, bytes, hash)
    }
    await client.query('update audit_jobs.verified set mac = $1', [macOf(vault, hash)])
  })
}

/**
 * Returns the hash tables of a state. On a large site, these tables hold nearly all bytes of the
 * state.
 */
function hashTablesOf({ remembered, grantIds, redeemed }: AuditState): { slots: Uint32Array }[] {
  const calls = remembered.kind === 'positions' ? [remembered.positions] : []
  return [...calls, grantIds, redeemed]
}

function withoutSlots(state: AuditState): AuditState {
  const copy: AuditState = {
    ...state,
    grantIds: { ...state.grantIds },
    redeemed: { ...state.redeemed },
    remembered:
      state.remembered.kind === 'positions'
        ? { ...state.remembered, positions: { ...state.remembered.positions } }
        : state.remembered,
  }
  for (const table of hashTablesOf(copy)) table.slots = new Uint32Array(0)
  return copy
}

async function writeSection(
  client: PoolClient,
  section: number,
  bytes: Uint8Array,
  hash: Hash,
): Promise<void> {
  for (let part = 0; part * PART_BYTES_MAX < bytes.length; part += 1) {
    const view = bytes.subarray(part * PART_BYTES_MAX, (part + 1) * PART_BYTES_MAX)
    addToHash(hash, section, view)
    await client.query(
      'insert into audit_jobs.verified_parts (section, part, bytes) values ($1, $2, $3)',
      [section, part, Buffer.from(view.buffer, view.byteOffset, view.byteLength)],
    )
  }
}

/**
 * Returns the stored sections. Returns null if there are none, or if their MAC shows that this site
 * did not write them.
 */
async function readSections(
  client: PoolClient,
  vault: Deps['vault'],
): Promise<Uint8Array<ArrayBuffer>[] | null> {
  const { rows: states } = await client.query<{ mac: string }>(
    'select mac from audit_jobs.verified',
  )
  const { rows: parts } = await client.query<{ section: number; part: number; length: number }>(
    `select section, part, octet_length(bytes) as length from audit_jobs.verified_parts
     order by section, part`,
  )
  const sections: Uint8Array<ArrayBuffer>[] = []
  const hash = createHash('sha256')
  const used: number[] = []
  for (const { section, part } of parts) {
    const own = parts.filter((one) => one.section === section)
    const length = own.reduce((sum, one) => sum + one.length, 0)
    sections[section] ??= new Uint8Array(length)
    const { rows } = await client.query<{ bytes: Buffer }>(
      'select bytes from audit_jobs.verified_parts where section = $1 and part = $2',
      [section, part],
    )
    const bytes = rows[0]?.bytes ?? Buffer.alloc(0)
    sections[section]?.set(bytes, used[section] ?? 0)
    used[section] = (used[section] ?? 0) + bytes.length
    addToHash(hash, section, bytes)
  }
  const mac = states[0]?.mac
  return mac === undefined || macOf(vault, hash) !== mac ? null : sections
}

/**
 * Adds a part of a section to the hash. The section's number and the part's length are hashed too,
 * so that nobody can move bytes to another section unnoticed.
 */
function addToHash(hash: Hash, section: number, bytes: Uint8Array): void {
  hash.update(`${section} ${bytes.length} `)
  hash.update(bytes)
}

const macOf = (vault: Deps['vault'], hash: Hash): string =>
  vault.keyedHash('audit-state', hash.digest('hex'))
