import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { isDatabaseAway } from '#infra/postgres/query-timeouts.ts'
import { isRunInMemory } from './run-folder.ts'

export type TestDatabase = { readonly url: string; readonly drop: () => Promise<void> }

/** Creates a database on the test run's Postgres. The default template is empty. */
export async function testDatabase(template = 'template0'): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`
  // In memory, copying files with checkpoints costs less than logging all pages.
  const strategy = isRunInMemory() ? 'file_copy' : 'wal_log'
  await onServer((client) =>
    client.query(`create database ${name} template ${template} strategy ${strategy}`),
  )
  return { url: databaseUrl(name), drop: () => onServer((client) => drop(client, name)) }
}

export function databaseUrl(name: string): string {
  const url = new URL(serverUrl())
  url.pathname = `/${name}`
  return url.href
}

function serverUrl(): string {
  const url = process.env.TEST_POSTGRES_URL
  if (url === undefined) throw new Error('the test run has no Postgres: see global-setup.ts')
  return url
}

/**
 * An ended pool may still be closing connections, and an interrupted connection emits an unhandled
 * error. Therefore, connections are closed by force only after 200 ms.
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

let connection: Promise<Client> | null = null

/** Runs queries on the connection of this process to the server, which is opened once. */
export async function onServer(act: (client: Client) => Promise<unknown>): Promise<void> {
  connection ??= connect()
  const client = await connection
  try {
    await act(client)
  } catch (error) {
    if (connection !== null && !isDatabaseAway(error)) throw error
    // A test has ended the connections of the server.
    connection = connect()
    await act(await connection)
  }
}

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: serverUrl() })
  // A test may end all connections of the server, or the server itself.
  client.on('error', () => {})
  client.on('end', () => {
    connection = null
  })
  await client.connect()
  return client
}
