import { existsSync } from 'node:fs'
import { Pool } from 'pg'
import { readConfig } from '../../config/read-config.ts'
import { explainStart } from '../../explain-start.ts'
import { startEmbeddedPostgres } from '../../postgres/embedded.ts'
import { createLog } from '../../telemetry/log.ts'
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

if (existsSync('.env')) process.loadEnvFile('.env')
try {
  process.exitCode = (await main(process.env)) ? 0 : 1
} catch (error) {
  process.stderr.write(`${explainStart(error).replace("Tallygate can't start. ", '')}\n`)
  process.exitCode = 1
}
