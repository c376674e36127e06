import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { readConfig } from '#infra/config/read-config.ts'
import type { ConsoleClient } from '#infra/demo/management-api-client.ts'
import type { JournalEntry } from '#infra/demo/received-requests.ts'
import { type Running, startProduct } from '#infra/start.ts'
import { firstLine, killChild, type NodeChild, spawnNode } from '#test/support/child-process.ts'
import { kafkaForTests } from '../support/kafka/kafka-for-tests.ts'
import { SHORT_LEASES, startProviderProcess, startSite } from '../support/multi-process-site.ts'
import { redisEngine, startOwnRedis } from '../support/test-redis.ts'
import { type AccountTotals, readAccountTotals } from './account-totals.ts'
import { type CallRecord, callInStorm } from './call-repeatedly.ts'
import { seedStorm } from './seed-storm.ts'

type StoreProcess = {
  readonly url: string
  readonly kill: () => Promise<void>
  /** Restarts the process with the same data and port. */
  readonly restart: () => Promise<void>
  readonly stop: () => Promise<void>
}

/**
 * Starts the EventStoreDB simulator as a process that can be killed without losing acknowledged
 * events.
 */
async function startStoreProcess(): Promise<StoreProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-store-'))
  let child: NodeChild
  const start = async (port: string): Promise<string> => {
    const program = 'test/support/event-store-db/server-program.ts'
    child = spawnNode(program, '--file', join(folder, 'events'), '--port', port)
    return firstLine(child)
  }
  const url = await start('0')
  const kill = (): Promise<void> => killChild(child)
  return {
    url,
    kill,
    restart: async () => {
      await kill()
      await start(/:(\d+)/.exec(url.slice('esdb://'.length))?.[1] ?? '')
    },
    stop: async () => {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A client of the live log that reconnects and continues after the last received position. */
class LiveReader {
  /** The number of received rows by call. */
  readonly rows = new Map<string, number>()
  resyncs = 0
  reconnects = -1
  readonly #console: ConsoleClient
  #position: number | null = null
  #socket: WebSocket | null = null
  #isOver = false

  constructor(console: ConsoleClient) {
    this.#console = console
  }

  /** Connects. Resolves when the server sends `ready` for the first time. */
  start(): Promise<void> {
    return new Promise((ready) => this.#open(ready))
  }

  /** Breaks the connection, as a network failure would. */
  cut(): void {
    this.#socket?.terminate()
  }

  stop(): void {
    this.#isOver = true
    this.#socket?.terminate()
  }

  #open(onReady: () => void): void {
    if (this.#isOver) return
    const { url, sessionHeaders } = this.#console
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/live`, {
      headers: { ...sessionHeaders, origin: url },
    })
    this.#socket = socket
    this.reconnects += 1
    const after = this.#position === null ? {} : { after: this.#position }
    socket.on('open', () => {
      socket.send(JSON.stringify({ type: 'subscribe', topics: ['logs'], ...after }))
    })
    socket.on('error', () => {})
    socket.on('close', () => setTimeout(() => this.#open(onReady), 100))
    socket.on('message', (bytes) => this.#take(JSON.parse(String(bytes)), onReady))
  }

  #take(message: Message, onReady: () => void): void {
    if (message.position !== undefined) {
      this.#position = Math.max(this.#position ?? 0, message.position)
    }
    if (message.type === 'ready') onReady()
    if (message.type === 'resync') this.resyncs += 1
    const call = message.data?.request_id
    if (message.type === 'event' && call) this.rows.set(call, (this.rows.get(call) ?? 0) + 1)
  }
}

type Message = {
  readonly type: string
  readonly position?: number
  readonly data?: { readonly request_id?: string }
}

const STOPPED_MS = Number(process.env.CHAOS_STOPPED_MS ?? 30_000)
const OPENING_BALANCE = 1_000_000_000

const engine = redisEngine === 'redis-server' ? await kafkaForTests() : { skip: 'no redis-server' }
const kafka = 'skip' in engine || engine.kind === 'given' ? null : engine
const why = 'skip' in engine ? engine.skip : 'the given Kafka is not ours to kill'
const skipped = kafka === null ? ` (skipped: ${why})` : ''

let records: CallRecord[]
let totals: AccountTotals
let journal: JournalEntry[]
let running: Running
let live: LiveReader
/** The combined output of the processes. */
let complaints = ''
const stops: (() => unknown)[] = []

beforeAll(async () => {
  if (kafka === null) return
  const [store, redis, site] = [await startStoreProcess(), await startOwnRedis(), await startSite()]
  const provider = await startProviderProcess({ gapMs: 2, answerTokens: 8, firstByteMs: 1 })
  stops.push(() => kafka.stop(), store.stop, redis.stop, provider.close, site.close)
  const engines = {
    EVENT_STORE: 'eventstoredb',
    EVENTSTORE_URL: store.url,
    KAFKA_BROKERS: kafka.brokers.join(),
    REDIS_URL: redis.url,
    NODE_OPTIONS: SHORT_LEASES,
  }
  const first = await site.start('projections', engines)
  const api = await site.start('write-api,read-api', engines)
  const relay = await site.start('relay', engines)
  const stopped = await site.start('projections', engines)
  const { root, key } = await seedStorm(api.url, provider.url, OPENING_BALANCE)
  live = new LiveReader(root)
  await live.start()

  let isOver = false
  const storm = callInStorm({
    url: relay.url,
    key,
    total: 1_000,
    atOnce: 10,
    isOver: () => isOver,
  })
  await delay(2_000)
  process.kill(stopped.pid, 'SIGSTOP')
  const stoppedAt = Date.now()
  for (const part of [kafka, redis, store]) {
    await part.kill()
    await delay(2_500)
    await part.restart()
    await delay(3_000)
    live.cut()
  }
  await first.kill()
  await delay(1_000)
  await first.start()
  await delay(Math.max(0, STOPPED_MS - (Date.now() - stoppedAt)))
  process.kill(stopped.pid, 'SIGCONT')
  await delay(4_000)
  isOver = true
  records = await storm
  journal = await provider.journal()

  const config = readConfig({ ...site.environment, ...engines, LOG_LEVEL: 'silent', PORT: '0' })
  await relay.stop()
  const isShown = () => records.every(({ outcome, requestId }) => isSeen(outcome, requestId))
  for (const end = Date.now() + 90_000; Date.now() < end && !isShown(); ) await delay(200)
  expect([await first.stop(), await stopped.stop(), await api.stop()]).toEqual([0, 0, 0])
  complaints = [first, stopped, api, relay].map(({ output }) => output).join('')
  const roles = new Set(['projections', 'relay'] as const)
  running = await startProduct({ ...config, roles })
  stops.push(() => running.stop(1_000))
  totals = await readAccountTotals(running)
  const count = (outcome: CallRecord['outcome']) =>
    records.filter((record) => record.outcome === outcome).length
  process.stdout.write(
    `engines: ${records.length} calls, ${count('acknowledged')} acknowledged, ` +
      `${count('unknown')} interrupted, ${count('refused')} refused, ` +
      `${live.rows.size} rows live over ${live.reconnects} reconnects\n`,
  )
}, 300_000)

afterAll(async () => {
  live?.stop()
  for (const stop of stops.reverse()) await stop()
})

const isSeen = (outcome: CallRecord['outcome'], call: string | null): boolean =>
  outcome !== 'acknowledged' || live.rows.has(call ?? '')

describe.skipIf(kafka === null)(
  `kills of EventStoreDB, Kafka, Redis and a projector, and a pause of another${skipped}`,
  () => {
    it('the log shows that each killed engine was unavailable', () => {
      expect(complaints).toMatch(/UNAVAILABLE/)
      expect(complaints).toMatch(/Kafka delivers nothing/)
      expect(complaints).toMatch(/Redis is unavailable/)
    })

    it('each acknowledged call is billed once, each call ends once, and no hold is left', () => {
      const acknowledged = records.filter(({ outcome }) => outcome === 'acknowledged')
      expect(acknowledged.length).toBeGreaterThan(500)
      const wrong = acknowledged.filter(
        ({ requestId }) => totals.settled.get(requestId ?? '') !== 1,
      )
      expect(wrong).toEqual([])
      expect(totals.endedNotOnce).toEqual([])
      expect([totals.held, totals.ledgerSum]).toEqual([0n, 0n])
      const charges = [...totals.charged.values()].reduce((sum, charge) => sum + charge, 0n)
      expect(totals.balance).toBe(BigInt(OPENING_BALANCE) - charges)
    })

    it('each billed call was sent to the provider, and no call was sent twice', () => {
      const requestCounts = new Map<string, number>()
      for (const { requestId } of journal)
        requestCounts.set(requestId, (requestCounts.get(requestId) ?? 0) + 1)
      expect([...totals.charged.keys()].filter((call) => !requestCounts.has(call))).toEqual([])
      expect([...requestCounts].filter(([, count]) => count !== 1)).toEqual([])
    })

    it('the live socket reconnects after each failure and delivers every row exactly once', () => {
      expect(live.reconnects).toBeGreaterThanOrEqual(3)
      expect(live.resyncs).toBe(0)
      const missing = records.filter(({ outcome, requestId }) => !isSeen(outcome, requestId))
      expect(missing).toEqual([])
      expect([...live.rows].filter(([, count]) => count !== 1)).toEqual([])
    })

    it('read models equal the fold of the events', async () => {
      const last = await running.core.store.headPosition()
      const names = [...(running.projections?.positions().keys() ?? [])]
      expect(await running.freshness.waitFor(names, last, 90_000)).toBe(true)
      const verified = await running.projections?.verify()
      expect(verified?.filter(({ isEqual }) => !isEqual)).toEqual([])
    }, 150_000)
  },
)
