import type { Pool } from 'pg'
import { addColumn, createIndex, ensureSchema } from '../postgres/ensure-schema.ts'
import { USER_KEYS_TABLE } from './create-user-keys-table.ts'
import { createSealing } from './encryption-per-user.ts'
import { checkSecretKey, createKeyRing } from './keys-derived-from-secret-key.ts'
import { createPasswordPool } from './password-pool.ts'
import type { Vault } from './port.ts'
import { createSecrets } from './secret-store.ts'
import { erasureProgress } from './unfinished-erasures.ts'

/**
 * Creates the vault in the schema `vault`. Throws `WrongSecretKey` if the database's secrets were
 * encrypted under another `SECRET_KEY`.
 */
export async function createVault(parts: {
  readonly pg: Pool
  readonly secretKey: Uint8Array
}): Promise<Vault> {
  const { pg, secretKey } = parts
  const ring = createKeyRing(secretKey)
  await ensureSchema(pg, 'vault', VAULT_TABLES)
  await checkSecretKey(pg, ring.kid)
  return {
    ...createSecrets(pg, ring),
    ...createSealing(pg, ring),
    ...PASSWORDS,
    keyedHash: ring.keyedHash,
    erasureProgress: () => erasureProgress(pg),
  }
}

/**
 * The pool of hashing threads, which all vaults of the process share. The pool starts its threads
 * when passwords must be hashed.
 */
const PASSWORDS = createPasswordPool()

/**
 * The tables have a separate schema, so that a database dump that leaves the site can omit this
 * schema. If all tables exist already, a start takes no lock for which statements of other
 * processes would wait.
 */
const VAULT_TABLES = `
  create table if not exists vault.wrapping_key (
    id int primary key check (id = 1),
    kid text not null
  );
  create table if not exists vault.secrets (
    ref text primary key,
    purpose text not null,
    owner text not null,
    kid text not null,
    wrapped_key bytea not null,
    sealed bytea not null,
    made_at timestamptz not null default now()
  );
  ${createIndex('texts_of_messages', 'vault.secrets', `(owner) where purpose = 'message'`)}
  ${USER_KEYS_TABLE}
  create table if not exists vault.unfinished_erasures (
    user_id int8 primary key,
    begun_at timestamptz not null default now()
  );
  create table if not exists vault.erased_rows (
    id int8 generated always as identity primary key
  );
  -- Null if an earlier release has inserted the row.
  ${addColumn('vault.erased_rows', 'user_id', 'int8')}
`
