import { randomBytes } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConsoleClient } from '#infra/demo/management-api-client.ts'
import { startEmbeddedPostgres } from '#infra/postgres/embedded-postgres.ts'
import { createLog } from '#infra/telemetry/log.ts'
import type { Target } from './apply-load.ts'
import { AS_STARTED, pinTo, startPinned, unpin } from './pinned-processes.ts'

export type BenchSetup = {
  readonly folder: string
  /** The database of the product, and the key of its secrets. */
  readonly databaseUrl: string
  readonly secretKey: string
  readonly console: ConsoleClient
  /** The address of a provider that answers in all formats. */
  readonly allFormatsUrl: string
  readonly targets: Readonly<Record<'direct' | 'bare proxy' | 'tallygate', Target>>
  readonly pids: Readonly<
    Record<'direct' | 'bare proxy' | 'tallygate' | 'postgres' | 'readModels', number>
  >
  /** Lets every process use every core, for measurements of waiting times. */
  releaseCores(): void
  stop(): Promise<void>
}

export const LOAD_CORE = 1
const TARGET_CORE = 0
/** The pause (ms) between the events of a stream, because a real provider also pauses. */
export const GAP_MS = 5
export const ANSWER_TOKENS = 20
const PASSWORD = 'bench-password'

/**
 * Provider and load share one core. The bare proxy, the relay, Postgres and the read models share
 * the other core as separate processes, so that the CPU time of each can be measured.
 */
export async function startBenchSetup(): Promise<BenchSetup> {
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-bench-'))
  const postgres = await startEmbeddedPostgres({ dataDir: folder, log: createLog('error') })
  pinTo(TARGET_CORE, postgres.pid)
  pinTo(LOAD_CORE, process.pid)
  const environment = {
    DATABASE_URL: postgres.connectionString,
    SECRET_KEY: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'error',
    PORT: '0',
    ...AS_STARTED,
  }
  const provider = await startPinned(LOAD_CORE, 'infra/demo/run-simulated-provider.ts', [
    ...['0', String(GAP_MS), String(ANSWER_TOKENS)],
  ])
  const bare = await startPinned(TARGET_CORE, 'test/bench/bare-proxy.ts', [provider.line.trim()])
  const readModels = await startPinned(TARGET_CORE, 'infra/main.ts', [], {
    ...environment,
    ROLES: 'write-api,read-api,projections',
  })
  const client = new ConsoleClient(addressIn(readModels.line))
  const key = await seed(client, provider.line.trim())
  const relay = await startPinned(TARGET_CORE, 'infra/main.ts', [], {
    ...environment,
    ROLES: 'relay',
  })
  const allFormats = await startPinned(LOAD_CORE, 'test/bench/all-formats-provider.ts', [])
  const children = [provider, bare, readModels, relay, allFormats]
  return {
    folder,
    ...{ databaseUrl: environment.DATABASE_URL, secretKey: environment.SECRET_KEY },
    console: client,
    allFormatsUrl: allFormats.line.trim(),
    targets: {
      direct: target(provider.line.trim(), 'sk-none'),
      'bare proxy': target(bare.line.trim(), 'sk-none'),
      tallygate: target(addressIn(relay.line), key),
    },
    pids: {
      direct: provider.pid,
      'bare proxy': bare.pid,
      tallygate: relay.pid,
      postgres: postgres.pid,
      readModels: readModels.pid,
    },
    releaseCores: () => {
      for (const pid of [process.pid, postgres.pid, ...children.map((child) => child.pid)]) {
        unpin(pid)
      }
    },
    stop: async () => {
      for (const { child } of children) child.removeAllListeners('exit')
      for (const { child } of children) child.kill('SIGKILL')
      await postgres.stop()
    },
  }
}

const addressIn = (line: string): string => /http:\/\/\S+/.exec(line)?.[0] ?? ''

const target = (url: string, key: string): Target => ({
  url: `${url}/v1/chat/completions`,
  headers: { authorization: `Bearer ${key}` },
})

async function seed(client: ConsoleClient, providerUrl: string): Promise<string> {
  await client.setUp('root', PASSWORD)
  await client.logIn('root', PASSWORD)
  const prices = JSON.stringify({ 'sim-small': 0.001, timed: 0.001 })
  await client.must('PUT', '/api/option/', { key: 'ModelRatio', value: prices })
  await client.must('POST', '/api/channel/', {
    name: 'bench',
    type: 1,
    key: 'sk-upstream',
    base_url: providerUrl,
    models: 'sim-small',
    group: 'default',
  })
  const { key } = await client.createToken({ name: 'bench', unlimited_quota: true })
  return key
}
