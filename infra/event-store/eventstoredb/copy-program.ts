import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Pool, type PoolClient } from 'pg'
import { ConfigError } from '#infra/config/config-types.ts'
import { readConfig } from '#infra/config/read-config.ts'
import { startEmbeddedPostgres } from '#infra/postgres/embedded-postgres.ts'
import { abortable } from '#infra/reject-on-abort.ts'
import { describeStartError } from '#infra/start-error.ts'
import { createLog } from '#infra/telemetry/log.ts'
import { surviveLostConnections } from '../../postgres/pools.ts'
import { APPEND_SESSION } from '../append-connection.ts'
import { StoreUnavailable } from '../port.ts'
import {
  ensureIdentitySchema,
  eventStoreName,
  isPostgres,
  moveStoreIdentity,
  readStoreIdentity,
} from '../store-identity.ts'
import { copyHistory } from './copy-history.ts'

const FORCE = 'ES_COPY_FORCE'

function isForced(environment: NodeJS.ProcessEnv): boolean {
  const text = environment[FORCE] ?? ''
  if (text !== '' && text !== 'true') throw new ConfigError(FORCE, `must be true, not "${text}"`)
  return text === 'true'
}

/**
 * Throws `ConfigError` while another process of this product is connected to the database. After
 * the move, that process would still use the caches, positions and read models of the old history.
 */
async function rejectRunning(pg: Pool): Promise<void> {
  const { rows } = await pg.query<{ host: string }>(
    `select coalesce(host(client_addr), 'this machine') as host from pg_stat_activity
     where datname = current_database() and application_name = $1`,
    [APPEND_SESSION],
  )
  if (rows.length === 0) return
  const hosts = [...new Set(rows.map(({ host }) => host))].sort().join(', ')
  throw new ConfigError(
    'DATABASE_URL',
    `is still in use by processes of Tallygate: ${rows.length}, from ${hosts}. Stop them first; ` +
      `if they are gone and Postgres has not noticed yet, set ${FORCE}=true`,
  )
}

type Log = ReturnType<typeof createLog>

const PROGRESS_EVERY = 10_000
const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

/**
 * Runs `npm run es:copy`, which copies the history to the EventStoreDB at `EVENTSTORE_URL`. The
 * source is the Postgres at `DATABASE_URL`, or the embedded Postgres in `DATA_DIR`. If source and
 * target are equal after the copy, the database records the target as its event store and refuses
 * new events, and the result is true (exit code 0). If they differ, the database is unchanged, and
 * the result is false (exit code 1).
 */
async function main(environment: NodeJS.ProcessEnv, signal: AbortSignal): Promise<boolean> {
  const config = readConfig({ ...environment, EVENT_STORE: 'eventstoredb' })
  const log = createLog(config.logLevel)
  const { databaseUrl, dataDir } = config
  const url = config.eventStore.url ?? ''
  const mustBeAlone = !isForced(environment)
  if (databaseUrl === null && !existsSync(join(dataDir, 'postgres'))) {
    throw new ConfigError('DATA_DIR', `there is no history in ${dataDir}`)
  }
  const embedded =
    databaseUrl === null ? await startEmbeddedPostgres({ dataDir, log, signal }) : null
  const pg = new Pool({ connectionString: databaseUrl ?? embedded?.connectionString })
  // The loss of an idle connection is ignored, because it is expected when the server stops.
  surviveLostConnections(pg, () => {})
  try {
    return await abortable(copyOnce({ pg, url, log, mustBeAlone }), signal)
  } finally {
    // The connections of an aborted copy are closed when this process ends.
    if (!signal.aborted) await pg.end()
    await embedded?.stop()
  }
}

type Copy = {
  readonly pg: Pool
  readonly url: string
  readonly log: Log
  readonly mustBeAlone: boolean
}

async function copyOnce(copy: Copy): Promise<boolean> {
  await ensureIdentitySchema(copy.pg)
  const { name } = await readStoreIdentity(copy.pg)
  return isPostgres({ name }) ? await copyFrozen(copy) : isAlreadyMoved(name, copy.url)
}

/**
 * Checks that an earlier run moved the history to this target. Returns true, or throws if the
 * history was moved to another target.
 */
function isAlreadyMoved(name: string, url: string): true {
  const text = `the history has already been moved to ${name}`
  if (name !== eventStoreName(url)) throw new ConfigError('EVENTSTORE_URL', text)
  print(text)
  return true
}

/** Copies the history while the source is locked, so that no event is missed. */
async function copyFrozen({ pg, url, log, mustBeAlone }: Copy): Promise<boolean> {
  const guard = await pg.connect()
  try {
    await freeze(guard)
    // NOTE: the table of the store's identity is read through `pg`. If `guard` read this table,
    // every start would wait until the copy ends.
    const { name } = await readStoreIdentity(pg)
    if (!isPostgres({ name })) return isAlreadyMoved(name, url)
    await rejectEmpty(pg)
    if (mustBeAlone) await rejectRunning(pg)
    let reportedAt = 0
    const onProgress = (copied: number): void => {
      if (copied - reportedAt < PROGRESS_EVERY) return
      reportedAt = copied
      print(`${copied} events copied`)
    }
    const { streams, events, different, isSameOrder, firstEvent } = await copyHistory({
      pg,
      url,
      log,
      onProgress,
    })
    for (const stream of different) print(`different: ${stream}`)
    if (!isSameOrder) print('the order of the events is not the same at both ends')
    const isSame = different.length === 0 && isSameOrder
    if (isSame) {
      // A process that had lost its database session may have reconnected during the copy, so the
      // check is repeated. Processes that start later wait for this transaction.
      if (mustBeAlone) await rejectRunning(pg)
      await guard.query(SEAL)
      const now = { name: eventStoreName(url), firstEvent, isUsed: firstEvent !== null }
      await moveStoreIdentity(guard, now)
      await guard.query('commit')
    }
    print(`${events} events in ${streams} streams: ${isSame ? 'the same' : 'NOT the same'}`)
    return isSame
  } finally {
    await guard.query('rollback').catch(() => {})
    guard.release()
  }
}

const FREEZE = 'begin; lock table event_store.head in share row exclusive mode'
const LOCK_NOT_AVAILABLE = '55P03'

async function freeze(guard: PoolClient): Promise<void> {
  try {
    await guard.query(`${FREEZE} nowait`)
  } catch (error) {
    if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE) throw error
    print('waiting for exclusive access to the database')
    await guard.query('rollback')
    await guard.query(FREEZE)
  }
}

async function rejectEmpty(pg: Pool): Promise<void> {
  const { rowCount } = await pg.query('select from event_store.events limit 1')
  if (rowCount === 0) throw new ConfigError(...NO_HISTORY)
}

/** SQL that makes Postgres refuse appends by running processes, even of an earlier release. */
const SEAL = `
  create or replace function event_store.refuse_append() returns trigger language plpgsql
  as $refuse$
  begin
    raise exception 'the history was moved to EventStoreDB' using errcode = '55000';
  end
  $refuse$;
  create or replace trigger moved_away before update on event_store.head
    for each statement execute function event_store.refuse_append()`

/** SQLSTATEs of a missing table or schema. */
const MISSING_TABLE = ['42P01', '3F000']
const NO_HISTORY = ['DATABASE_URL, DATA_DIR', 'there is no history in this database'] as const

function explainCopy(error: unknown): string {
  if (error instanceof StoreUnavailable) return `EVENTSTORE_URL: ${error.message}`
  if (MISSING_TABLE.includes(String((error as { code?: unknown }).code))) {
    return NO_HISTORY.join(': ')
  }
  return describeStartError(error).replace("Tallygate can't start. ", '')
}

/**
 * Runs the program with the given environment variables until the program has ended or `signal` is
 * aborted. Prints the result, and returns the exit code.
 */
export async function runCopyProgram(
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<number> {
  try {
    return (await main(environment, signal)) ? 0 : 1
  } catch (error) {
    process.stderr.write(signal.aborted ? 'stopped\n' : `${explainCopy(error)}\n`)
    return 1
  }
}

if (import.meta.main) {
  if (existsSync('.env')) process.loadEnvFile('.env')
  const aborting = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => aborting.abort())
  }
  process.exitCode = await runCopyProgram(process.env, aborting.signal)
  // An aborted copy may have left connections open, which would keep the process running.
  if (aborting.signal.aborted) process.exit()
}
