import { randomBytes } from 'node:crypto'
import { Client } from 'pg'

/** A new, empty database on the Postgres of this test run. */
export async function testDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const server = process.env.TEST_POSTGRES_URL
  if (server === undefined) throw new Error('the test run has no Postgres: see global-setup.ts')
  const name = `test_${randomBytes(6).toString('hex')}`
  await onServer(server, `create database ${name} template template0`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return {
    url: url.href,
    drop: () => onServer(server, `drop database if exists ${name} with (force)`),
  }
}

async function onServer(server: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: server })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
