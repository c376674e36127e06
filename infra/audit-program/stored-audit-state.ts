import { createHash } from 'node:crypto'
import { deserialize, serialize } from 'node:v8'
import type { Pool } from 'pg'
import { AUDIT_STATE_VERSION, type AuditState } from '#domain/audit/state.ts'
import { ensureSchema } from '../postgres/ensure-schema.ts'
import type { Vault } from '../vault/port.ts'
import { GrowingTree } from './append-only-merkle-tree.ts'

const DDL = `
  create table if not exists audit_jobs.state (
    is_only boolean primary key default true check (is_only),
    position int8 not null,
    bytes bytea not null,
    mac text not null
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

/** The state of an audit, and the tree over the same events. */
export type Verified = {
  readonly state: AuditState
  readonly tree: GrowingTree
  /** The first tile whose events the next incremental verification compares. */
  readonly nextTile: number
}

type Stored = {
  readonly version: number
  readonly state: AuditState
  readonly size: number
  readonly subtrees: readonly Uint8Array[]
  /** The first tile that the next verification compares. Earlier releases omitted it. */
  readonly nextTile?: number
}

type Deps = { readonly pg: Pool; readonly vault: Pick<Vault, 'keyedHash'> }

/**
 * Returns the state of the last verification without findings. Returns null if there is none, if it
 * is of another release, or if it was not written by this site: a state that was edited by SQL
 * would hide findings.
 */
export async function readVerified({ pg, vault }: Deps): Promise<Verified | null> {
  const { rows } = await pg.query<{ bytes: Buffer; mac: string }>(
    'select bytes, mac from audit_jobs.state',
  )
  const [row] = rows
  if (row === undefined || macOf(vault, row.bytes) !== row.mac) return null
  const { version, state, size, subtrees, nextTile = 0 } = deserialize(row.bytes) as Stored
  if (version !== AUDIT_STATE_VERSION) return null
  return {
    state,
    nextTile,
    tree: new GrowingTree(
      size,
      subtrees.map((hash) => Buffer.from(hash)),
    ),
  }
}

export async function writeVerified(
  { pg, vault }: Deps,
  { state, tree, nextTile }: Verified,
): Promise<void> {
  const subtrees = tree.frontier().map((hash) => new Uint8Array(hash))
  const stored: Stored = {
    ...{ version: AUDIT_STATE_VERSION, state, size: tree.size, subtrees, nextTile },
  }
  const bytes = serialize(stored)
  await pg.query(
    `insert into audit_jobs.state (position, bytes, mac) values ($1, $2, $3)
     on conflict (is_only) do update set position = excluded.position, bytes = excluded.bytes,
       mac = excluded.mac`,
    [state.position, bytes, macOf(vault, bytes)],
  )
}

const macOf = (vault: Pick<Vault, 'keyedHash'>, bytes: Buffer): string =>
  vault.keyedHash('audit-state', createHash('sha256').update(bytes).digest('hex'))
