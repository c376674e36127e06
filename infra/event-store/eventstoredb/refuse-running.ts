import type { Pool } from 'pg'
import { ConfigError } from '../../config/config-error.ts'
import { APPEND_SESSION } from '../flush.ts'

const FORCE = 'ES_COPY_FORCE'

/** Whether the operator says that whoever still seems to run doesn't, or is of no account. */
export function isForced(environment: NodeJS.ProcessEnv): boolean {
  const text = environment[FORCE] ?? ''
  if (text !== '' && text !== 'true') throw new ConfigError(FORCE, `must be true, not "${text}"`)
  return text === 'true'
}

/**
 * Throws `ConfigError` while processes run on this database's own event store: each keeps the
 * session open that it appends through. They would go on with caches, positions and read models
 * of a history that has moved, and what they are asked meanwhile would fail.
 */
export async function refuseRunning(pg: Pool): Promise<void> {
  const { rows } = await pg.query<{ place: string }>(
    `select coalesce(host(client_addr), 'this machine') as place from pg_stat_activity
     where datname = current_database() and application_name = $1`,
    [APPEND_SESSION],
  )
  if (rows.length === 0) return
  const places = [...new Set(rows.map(({ place }) => place))].sort().join(', ')
  throw new ConfigError(
    'DATABASE_URL',
    `still in use by processes of Tallygate: ${rows.length}, from ${places}. Stop them first; ` +
      `if they are gone and Postgres has not noticed yet, set ${FORCE}=true`,
  )
}
