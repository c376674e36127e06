import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'

/** A new, empty database on the Postgres of this test run. */
export async function testDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const server = process.env.TEST_POSTGRES_URL
  if (server === undefined) throw new Error('the test run has no Postgres: see global-setup.ts')
  const name = `test_${randomBytes(6).toString('hex')}`
  await onServer(server, (client) => client.query(`create database ${name} template template0`))
  const url = new URL(server)
  url.pathname = `/${name}`
  return {
    url: url.href,
    drop: () => onServer(server, (client) => drop(client, name)),
  }
}

/**
 * A pool that has ended is not done closing: what was torn from it then would be an error that
 * nobody listens for. What stays is closed by force.
 */
async function drop(client: Client, name: string): Promise<void> {
  for (let looks = 0; looks < 10; looks += 1) {
    const { rowCount } = await client.query(
      `select 1 from pg_stat_activity where datname = '${name}'`,
    )
    if (rowCount === 0) break
    await delay(20)
  }
  await client.query(`drop database if exists ${name} with (force)`)
}

async function onServer(server: string, act: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString: server })
  await client.connect()
  try {
    await act(client)
  } finally {
    await client.end()
  }
}
