import type { Pool } from 'pg'

/**
 * Thrown if the database server is unsuitable, for example because it may lose acknowledged
 * commits. The message names the setting to change.
 */
class UnsafeServer extends Error {
  readonly isOperatorError = true
  constructor(problems: readonly string[]) {
    super(`DATABASE_URL: this server can't be used: ${problems.join('; ')}`)
    this.name = 'UnsafeServer'
  }
}

const VERSION_MIN = 150_000

type Facts = {
  version: number
  version_text: string
  fsync: string
  full_page_writes: string
  synchronous_commit: string
  is_replica: boolean
  is_read_only: boolean
  encoding: string
}

export async function rejectUnsafeServer(pg: Pool): Promise<void> {
  const { rows } = await pg.query<Facts>(`
    select current_setting('server_version_num')::int as version,
      current_setting('server_version') as version_text,
      current_setting('fsync') as fsync,
      current_setting('full_page_writes') as full_page_writes,
      current_setting('synchronous_commit') as synchronous_commit,
      pg_is_in_recovery() as is_replica,
      current_setting('default_transaction_read_only')::boolean as is_read_only,
      current_setting('server_encoding') as encoding`)
  const problems = rows.flatMap(problemsOf)
  if (problems.length > 0) throw new UnsafeServer(problems)
}

/**
 * Returns the reasons why a server with these properties can't be used. This function does not
 * query a server, so that tests can pass any properties.
 */
export function problemsOf(facts: Facts): string[] {
  const problems: (readonly [isProblem: boolean, message: string])[] = [
    [facts.version < VERSION_MIN, `it is version ${facts.version_text}, and must be 15 or newer`],
    [facts.fsync !== 'on', 'fsync is off: a crash loses or corrupts data'],
    [facts.full_page_writes !== 'on', 'full_page_writes is off: a crash corrupts pages'],
    [facts.synchronous_commit === 'off', 'synchronous_commit is off, and cannot be switched on'],
    [facts.is_replica, 'it is a replica: set the address of the primary'],
    [facts.is_read_only, 'default_transaction_read_only is on'],
    [facts.encoding !== 'UTF8', `its encoding is ${facts.encoding}, and must be UTF8`],
  ]
  return problems.filter(([isProblem]) => isProblem).map(([, message]) => message)
}
