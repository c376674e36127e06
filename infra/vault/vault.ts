import type { Pool } from 'pg'
import { ensureSchema } from '../postgres/ensure-schema.ts'
import { checkSecretKey, createKeyRing } from './key-ring.ts'
import { createPasswordPool } from './password-pool.ts'
import type { Vault } from './port.ts'
import { createSecrets } from './secrets.ts'
import { VAULT_TABLES } from './tables.ts'
import { createSealing } from './user-keys.ts'

/**
 * The vault in the schema `vault` of this database. Throws `WrongSecretKey` when it was set up
 * with another key.
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
    ...createPasswordPool(),
    keyedHash: ring.keyedHash,
  }
}
