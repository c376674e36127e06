import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Pool, type PoolClient } from 'pg'
import { abortable } from '#infra/abortable.ts'
import { ConfigError } from '#infra/config/config.ts'
import { readConfig } from '#infra/config/read-config.ts'
import { startEmbeddedPostgres } from '#infra/postgres/embedded.ts'
import { describeStartError } from '#infra/start-error.ts'
import { createLog } from '#infra/telemetry/log.ts'
import { APPEND_SESSION } from '../flush.ts'
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

/** Whether the operator says that whoever still seems to run doesn't, or is of no account. */
function isForced(environment: NodeJS.ProcessEnv): boolean {
  const text = environment[FORCE] ?? ''
  if (text !== '' && text !== 'true') throw new ConfigError(FORCE, `must be true, not "${text}"`)
  return text === 'true'
}

/**
 * Throws `ConfigError` while processes run on this database's own event store: each keeps the
 * session open that it appends through. They would go on with caches, positions and read models
 * of a history that has moved, and what they are asked meanwhile would fail.
 */
async function refuseRunning(pg: Pool): Promise<void> {
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
  const url = config.eventStore.url ?? ''
  const mustBeAlone = !isForced(environment)
  if (databaseUrl === null && !existsSync(join(dataDir, 'postgres'))) {
    throw new ConfigError('DATA_DIR', `there is no history in ${dataDir}`)
  }
  const embedded =
    databaseUrl === null ? await startEmbeddedPostgres({ dataDir, log, signal }) : null
  const pg = new Pool({ connectionString: databaseUrl ?? embedded?.connectionString })
  // What happens to idle connections is of no account; the last ones end with the server.
  pg.on('error', () => {})
  try {
    return await abortable(copyOnce({ pg, url, log, mustBeAlone }), signal)
  } finally {
    // An aborted copy still has its connections; they end with this process.
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
  return isPostgres({ name }) ? await copyFrozen(copy) : isThereBefore(name, copy.url)
}

/** Nothing is left to do for the same target; another one comes too late. */
function isThereBefore(name: string, url: string): true {
  const went = `the history went to ${name} before`
  if (name !== eventStoreName(url)) throw new ConfigError('EVENTSTORE_URL', went)
  say(went)
  return true
}

/** Nobody appends to the source meanwhile: what came later would not be at the target. */
async function copyFrozen({ pg, url, log, mustBeAlone }: Copy): Promise<boolean> {
  const guard = await pg.connect()
  // Whoever waits for it hears of a lost connection too.
  guard.on('error', () => {})
  try {
    await freeze(guard)
    // NOTE: not by the guard, which would keep every start waiting for this table until the end.
    const { name } = await readStoreIdentity(pg)
    if (!isPostgres({ name })) return isThereBefore(name, url)
    await refuseEmpty(pg)
    if (mustBeAlone) await refuseRunning(pg)
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
      // One that had lost its session may be back; starts wait for the end of this.
      if (mustBeAlone) await refuseRunning(pg)
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

const FREEZE = 'begin; lock table event_store.head in share row exclusive mode'
const LOCK_NOT_AVAILABLE = '55P03'

async function freeze(guard: PoolClient): Promise<void> {
  try {
    await guard.query(`${FREEZE} nowait`)
  } catch (error) {
    if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE) throw error
    say('waiting for the database to be ours alone')
    await guard.query('rollback')
    await guard.query(FREEZE)
  }
}

/** A database that was never used would be sealed for nothing. */
async function refuseEmpty(pg: Pool): Promise<void> {
  const { rowCount } = await pg.query('select from event_store.events limit 1')
  if (rowCount === 0) throw new ConfigError(...NO_HISTORY)
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
const NO_HISTORY = ['DATABASE_URL, DATA_DIR', 'there is no history in this database'] as const

function explainCopy(error: unknown): string {
  if (error instanceof StoreUnavailable) return `EVENTSTORE_URL: ${error.message}`
  if (NOTHING_THERE.includes(String((error as { code?: unknown }).code))) {
    return NO_HISTORY.join(': ')
  }
  return describeStartError(error).replace("Tallygate can't start. ", '')
}

if (existsSync('.env')) process.loadEnvFile('.env')
const aborting = new AbortController()
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => aborting.abort())
}
try {
  process.exitCode = (await main(process.env, aborting.signal)) ? 0 : 1
} catch (error) {
  process.stderr.write(aborting.signal.aborted ? 'stopped\n' : `${explainCopy(error)}\n`)
  process.exitCode = 1
}
// Of a copy that was stopped on its way, connections may be open.
if (aborting.signal.aborted) process.exit()
