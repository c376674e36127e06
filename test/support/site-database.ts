import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { readConfig } from '#infra/config/read-config.ts'
import { databaseUrl, onServer, type TestDatabase, testDatabase } from './test-database.ts'

const TEMPLATE = 'site_template'
/** The advisory lock of the only process that creates the template. */
const LOCK = 7_145_031

/**
 * Copies a template database in which the product was started once, which is faster than a first
 * start. Tests of the first start use `testDatabase`.
 */
export async function siteDatabase(): Promise<TestDatabase> {
  await ensureTemplate()
  return testDatabase(TEMPLATE)
}

let isThere = false

async function ensureTemplate(): Promise<void> {
  if (isThere) return
  await onServer(async (client) => {
    await client.query('select pg_advisory_lock($1)', [LOCK])
    try {
      const found = await client.query('select from pg_database where datname = $1', [TEMPLATE])
      if (found.rowCount === 0) await createTemplate(client)
    } finally {
      // The connection stays open. A lost connection has released the lock.
      await client.query('select pg_advisory_unlock($1)', [LOCK]).catch(() => {})
    }
  })
  isThere = true
}

/** The template is renamed when it is complete. */
async function createTemplate(client: Client): Promise<void> {
  const unfinished = `${TEMPLATE}_unfinished`
  await client.query(`drop database if exists ${unfinished} with (force)`)
  await client.query(`create database ${unfinished} template template0`)
  const url = databaseUrl(unfinished)
  await startOnce(url)
  await forgetSite(url)
  await client.query(`alter database ${unfinished} rename to ${TEMPLATE}`)
}

async function startOnce(url: string): Promise<void> {
  // A dynamic import, so that test processes do not load the product if the template exists.
  const { startProduct } = await import('#infra/start.ts')
  const config = readConfig({
    DATABASE_URL: url,
    SECRET_KEY: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'silent',
    PORT: '0',
    // The console has no tables, and its pages would be built first.
    ROLES: 'write-api,read-api,projections,relay',
  })
  const running = await startProduct(config)
  await running.stop(0)
}

/**
 * Deletes all rows except the rows of the read models, because other rows depend on the template's
 * secret key or event store, or say that a process is running.
 */
async function forgetSite(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const events = await client.query('select from event_store.events limit 1')
  if (events.rowCount !== 0) throw new Error('a start writes events: the template is not empty')
  const { rows } = await client.query<{ name: string }>(
    `select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema', 'projections')
       and not starts_with(schemaname, 'read_')`,
  )
  await client.query(`truncate ${rows.map(({ name }) => name).join(', ')} restart identity`)
  await client.end()
}
