import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { inTransaction } from '../postgres/in-transaction.ts'
import { decrypt, encrypt } from './cipher.ts'
import type { KeyRing } from './keys-derived-from-secret-key.ts'
import { UnreadableSecret, type Vault } from './port.ts'

type Row = { ref: string; owner: string; wrapped_key: Buffer; sealed: Buffer }

const SELECT = `select ref, owner, wrapped_key, sealed from vault.secrets
  where purpose = $1 and ref = any($2::text[])`

type SecretMethod =
  | ('putSecret' | 'getSecret' | 'getSecrets')
  | ('deleteSecret' | 'deleteUnusedSecret' | 'hasSecret')

/**
 * Creates the methods of the vault that store secrets. Each secret has a separate data key, which
 * is encrypted with a key from `SECRET_KEY`.
 */
export function createSecrets(pg: Pool, ring: KeyRing): Pick<Vault, SecretMethod> {
  const open = (purpose: string, row: Row): string => {
    const context = contextOf(purpose, row.owner, row.ref)
    try {
      const key = ring.unwrap(context, row.wrapped_key)
      return decrypt(key, context, row.sealed).toString('utf8')
    } catch (error) {
      throw new UnreadableSecret(error)
    }
  }
  const read = async (purpose: string, refs: readonly string[]): Promise<Row[]> =>
    (await pg.query<Row>({ name: 'vault-secrets', text: SELECT, values: [purpose, refs] })).rows
  return {
    putSecret: async (purpose, owner, plaintext) => {
      const ref = randomUUID()
      const context = contextOf(purpose, owner, ref)
      const { key, wrapped } = ring.newDataKey(context)
      const sealed = encrypt(key, context, Buffer.from(plaintext, 'utf8'))
      await pg.query(
        `insert into vault.secrets (ref, purpose, owner, kid, wrapped_key, sealed)
         values ($1, $2, $3, $4, $5, $6)`,
        [ref, purpose, owner, ring.kid, wrapped, sealed],
      )
      return ref
    },
    getSecret: async (purpose, owner, ref) => {
      const [row] = await read(purpose, [ref])
      if (row === undefined || row.owner !== owner) {
        throw new Error(`the vault has no ${purpose} of ${owner} under this reference`)
      }
      return open(purpose, row)
    },
    getSecrets: async (purpose, refs) => {
      const owners = new Map(refs.map(({ ref, owner }) => [ref, owner]))
      const rows = await read(purpose, [...owners.keys()])
      const own = rows.filter((row) => owners.get(row.ref) === row.owner)
      return new Map(own.map((row) => [row.ref, open(purpose, row)]))
    },
    deleteSecret: async (ref) => {
      await pg.query('delete from vault.secrets where ref = $1', [ref])
    },
    deleteUnusedSecret: (ref, isUnused) =>
      inTransaction(pg, async (client) => {
        // `hasSecret` waits for this lock. The lock is acquired before `isUnused` looks for
        // references.
        await client.query('select from vault.secrets where ref = $1 for update', [ref])
        if (!(await isUnused())) return
        await client.query('delete from vault.secrets where ref = $1', [ref])
      }),
    hasSecret: async (ref) => {
      const lock = 'select from vault.secrets where ref = $1 for key share'
      return (await pg.query(lock, [ref])).rowCount !== 0
    },
  }
}

const contextOf = (purpose: string, owner: string, ref: string): string =>
  JSON.stringify([purpose, owner, ref])

/**
 * Returns the secret that signs a user's webhooks. Returns null for a webhook without a secret, and
 * undefined if the secret is no longer stored.
 */
export async function webhookSecret(
  vault: Pick<Vault, 'getSecrets'>,
  userId: number,
  ref: string | null,
): Promise<string | null | undefined> {
  if (ref === null) return null
  return (await vault.getSecrets('webhook', [{ owner: `user:${userId}`, ref }])).get(ref)
}
