import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Pool } from 'pg'
import { abortable } from '../../abortable.ts'
import { ConfigError } from '../../config/config-error.ts'
import { readConfig } from '../../config/read-config.ts'
import { explainStart } from '../../explain-start.ts'
import { startEmbeddedPostgres } from '../../postgres/embedded.ts'
import { createLog } from '../../telemetry/log.ts'
import { StoreUnavailable } from '../port.ts'
import {
  ensureIdentitySchema,
  eventStoreName,
  isPostgres,
  moveStoreIdentity,
  readStoreIdentity,
} from '../store-identity.ts'
import { copyHistory } from './copy-history.ts'

type Log = ReturnType<typeof createLog>

const PROGRESS_EVERY = 10_000
const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

/**
 * `npm run es:copy`: the history of `DATABASE_URL`, or of the embedded Postgres in `DATA_DIR`, to
 * `EVENTSTORE_URL`. Exits with 0 when both ends are the same; from then on the database belongs to
 * the target, and Postgres takes no more events. Else exits with 1, and nothing has changed here.
 */
async function main(environment: NodeJS.ProcessEnv, signal: AbortSignal): Promise<boolean> {
  const config = readConfig({ ...environment, EVENT_STORE: 'eventstoredb' })
  const log = createLog(config.logLevel)
  const { databaseUrl, dataDir } = config
  if (databaseUrl === null && !existsSync(join(dataDir, 'postgres'))) {
    throw new ConfigError('DATA_DIR', `there is no history in ${dataDir}`)
  }
  const embedded =
    databaseUrl === null ? await startEmbeddedPostgres({ dataDir, log, signal }) : null
  const pg = new Pool({ connectionString: databaseUrl ?? embedded?.connectionString })
  // What happens to idle connections is of no account; the last ones end with the server.
  pg.on('error', () => {})
  try {
    return await abortable(copyOnce(pg, config.eventStore.url ?? '', log), signal)
  } finally {
    // An aborted copy still has its connections; they end with this process.
    if (!signal.aborted) await pg.end()
    await embedded?.stop()
  }
}

async function copyOnce(pg: Pool, url: string, log: Log): Promise<boolean> {
  await ensureIdentitySchema(pg)
  const { name } = await readStoreIdentity(pg)
  if (isPostgres({ name })) return await copyFrozen(pg, url, log)
  if (name !== eventStoreName(url)) {
    throw new ConfigError('EVENTSTORE_URL', `the history went to ${name} before`)
  }
  say(`the history went to ${name} before`)
  return true
}

/** Nobody appends to the source meanwhile: what came later would not be at the target. */
async function copyFrozen(pg: Pool, url: string, log: Log): Promise<boolean> {
  const guard = await pg.connect()
  // Whoever waits for it hears of a lost connection too.
  guard.on('error', () => {})
  try {
    await guard.query('begin; lock table event_store.head in share row exclusive mode')
    let told = 0
    const onProgress = (copied: number): void => {
      if (copied - told < PROGRESS_EVERY) return
      told = copied
      say(`${copied} events copied`)
    }
    const { streams, events, different, isSameOrder, firstEvent } = await copyHistory({
      ...{ pg, url, log, onProgress },
    })
    for (const stream of different) say(`different: ${stream}`)
    if (!isSameOrder) say('the order of the events is not the same at both ends')
    const isSame = different.length === 0 && isSameOrder
    if (isSame) {
      await guard.query(SEAL)
      const now = { name: eventStoreName(url), firstEvent, isUsed: firstEvent !== null }
      await moveStoreIdentity(guard, now)
      await guard.query('commit')
    }
    say(`${events} events in ${streams} streams: ${isSame ? 'the same' : 'NOT the same'}`)
    return isSame
  } finally {
    await guard.query('rollback').catch(() => {})
    guard.release()
  }
}

/** Also a process that runs, or one of an earlier release, can't append any more. */
const SEAL = `
  create or replace function event_store.refuse_append() returns trigger language plpgsql
  as $refuse$
  begin
    raise exception 'the history was moved to EventStoreDB' using errcode = '55000';
  end
  $refuse$;
  create or replace trigger moved_away before update on event_store.head
    for each statement execute function event_store.refuse_append()`

/** No such table, no such schema. */
const NOTHING_THERE = ['42P01', '3F000']

function explainCopy(error: unknown): string {
  if (error instanceof StoreUnavailable) return `EVENTSTORE_URL: ${error.message}`
  if (NOTHING_THERE.includes(String((error as { code?: unknown }).code))) {
    return 'DATABASE_URL, DATA_DIR: there is no history in this database'
  }
  return explainStart(error).replace("Tallygate can't start. ", '')
}

if (existsSync('.env')) process.loadEnvFile('.env')
const aborting = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => aborting.abort())
try {
  process.exitCode = (await main(process.env, aborting.signal)) ? 0 : 1
} catch (error) {
  process.stderr.write(aborting.signal.aborted ? 'stopped\n' : `${explainCopy(error)}\n`)
  process.exitCode = 1
}
// Of a copy that was stopped on its way, connections may be open.
if (aborting.signal.aborted) process.exit()
