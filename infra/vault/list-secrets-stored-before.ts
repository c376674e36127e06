import type { Pool } from 'pg'
import type { SecretPurpose } from './port.ts'

/** The references of the secrets of one owner, such as `message:3`. */
export type OwnerSecrets = { readonly owner: string; readonly refs: readonly string[] }

const OWNERS_PER_PAGE = 1_000

/**
 * Yields the secrets with this purpose that were stored before `madeBefore` (Unix milliseconds),
 * grouped by owner, in pages of owners.
 */
export async function* listSecretsStoredBefore(
  pg: Pool,
  purpose: SecretPurpose,
  madeBefore: number,
): AsyncGenerator<readonly OwnerSecrets[]> {
  for (let after = ''; ; ) {
    const { rows } = await pg.query<OwnerSecrets>(
      `select owner, array_agg(ref) as refs from vault.secrets
       where purpose = $1 and owner > $2 and made_at < to_timestamp($3::float8 / 1000)
       group by owner order by owner limit ${OWNERS_PER_PAGE}`,
      [purpose, after, madeBefore],
    )
    yield rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < OWNERS_PER_PAGE) return
    after = last.owner
  }
}
