import { existsSync } from 'node:fs'
import { Pool } from 'pg'
import { readConfig } from '../../config/read-config.ts'
import { explainStart } from '../../explain-start.ts'
import { startEmbeddedPostgres } from '../../postgres/embedded.ts'
import { createLog } from '../../telemetry/log.ts'
import { StoreUnavailable } from '../port.ts'
import { copyHistory } from './copy-history.ts'

const PROGRESS_EVERY = 10_000
const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

/**
 * `npm run es:copy`: the history of `DATABASE_URL`, or of the embedded Postgres in `DATA_DIR`, to
 * `EVENTSTORE_URL`. Exits with 0 when both ends are the same, else with 1.
 */
async function main(environment: NodeJS.ProcessEnv): Promise<boolean> {
  const config = readConfig({ ...environment, EVENT_STORE: 'eventstoredb' })
  const log = createLog(config.logLevel)
  const embedded =
    config.databaseUrl === null
      ? await startEmbeddedPostgres({ dataDir: config.dataDir, log })
      : null
  const pg = new Pool({ connectionString: config.databaseUrl ?? embedded?.connectionString })
  // What happens to idle connections is of no account; the last ones end with the server.
  pg.on('error', () => {})
  try {
    return await copyFrozen(pg, config.eventStore.url ?? '', log)
  } finally {
    await pg.end()
    await embedded?.stop()
  }
}

/** Nobody appends to the source meanwhile: what came later would not be at the target. */
async function copyFrozen(pg: Pool, url: string, log: ReturnType<typeof createLog>) {
  const guard = await pg.connect()
  try {
    await guard.query('begin; lock table event_store.head in share mode')
    let told = 0
    const onProgress = (copied: number): void => {
      if (copied - told < PROGRESS_EVERY) return
      told = copied
      say(`${copied} events copied`)
    }
    const { streams, events, different, isSameOrder } = await copyHistory({
      ...{ pg, url, log, onProgress },
    })
    for (const stream of different) say(`different: ${stream}`)
    if (!isSameOrder) say('the order of the events is not the same at both ends')
    const isSame = different.length === 0 && isSameOrder
    say(`${events} events in ${streams} streams: ${isSame ? 'the same' : 'NOT the same'}`)
    return isSame
  } finally {
    await guard.query('rollback').catch(() => {})
    guard.release()
  }
}

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
try {
  process.exitCode = (await main(process.env)) ? 0 : 1
} catch (error) {
  process.stderr.write(`${explainCopy(error)}\n`)
  process.exitCode = 1
}
