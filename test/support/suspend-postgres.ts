import { Client } from 'pg'
import { onTestFinished } from 'vitest'

export type Backends = { readonly freeze: () => void; readonly thaw: () => void }

/**
 * Suspends and resumes the Postgres processes that serve a database. Later connections are served.
 */
export async function backendsOf(databaseUrl: string): Promise<Backends> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()`,
  )
  await client.end()
  let frozen: readonly number[] = []
  const thaw = (): void => {
    for (const pid of frozen) process.kill(pid, 'SIGCONT')
    frozen = []
  }
  onTestFinished(thaw)
  return {
    thaw,
    freeze: () => {
      frozen = rows.map(({ pid }) => pid)
      for (const pid of frozen) process.kill(pid, 'SIGSTOP')
    },
  }
}
