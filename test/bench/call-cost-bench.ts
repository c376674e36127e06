import { fork } from 'node:child_process'
import { once } from 'node:events'
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import type { AppendConnection } from '#infra/event-store/append-connection.ts'
import { createAppendQueue } from '#infra/event-store/append-queue.ts'
import { encodeAppend } from '#infra/event-store/encoded-append.ts'
import type { EventStore } from '#infra/event-store/port.ts'
import { KEY, type RelayRig, relayRig, USER } from '#test/relay/support/relay-rig.ts'
import type { LoadCount, LoadOrder } from './load-generator.ts'
import { startPinned } from './pinned-processes.ts'

/**
 * Measures what a plain call of 1 KB costs the relay alone, without Postgres: CPU time of all
 * threads and of the main thread, allocated bytes, and promoted bytes, which V8 moves to the old
 * generation. The events of calls are encoded and then discarded. Provider and load are processes
 * of their own. The allocated bytes are only exact if nothing is collected meanwhile:
 *
 *   node --expose-gc --min-semi-space-size=256 --max-semi-space-size=256 \
 *     test/bench/call-cost-bench.ts
 *
 * The promoted bytes are only exact with `--initial-old-space-size=3000`, because the old
 * generation is then not collected.
 *
 * CPU time must be measured with the flags of `npm start`:
 *
 *   node --max-semi-space-size=8 --heap-growing-percent=100 --no-allocation-site-pretenuring \
 *     --no-parallel-scavenge test/bench/call-cost-bench.ts
 */
const CONNECTIONS = 64
const WARM_UP_CALLS = 12_000
const ROUNDS = 5
const CALLS_PER_ROUND = 3_000
/** Few enough that the young generation does not fill up. */
const CALLS_PER_BYTES_ROUND = 500
const BALANCE = 1_000_000_000_000n

async function bench(): Promise<void> {
  const provider = await startPinned(1, 'test/bench/light-provider.ts', [])
  const rig = await relayBefore(provider.line.trim())
  const calls = countCalls(rig)
  discardEvents(rig.core.store)
  const load = fork('test/bench/load-generator.ts')
  const keys = Array.from({ length: CONNECTIONS }, () => `sk-${KEY}`)
  load.send({ url: `${rig.url}/`, keys } satisfies LoadOrder)
  await calls.more(WARM_UP_CALLS)
  const rounds: Cost[] = []
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measure(calls))
  const answered = once(load, 'message')
  load.send('count')
  const [{ errors }] = (await answered) as [LoadCount]
  for (const kind of ['cpuUs', 'mainThreadUs', 'bytes', 'promotedBytes'] as const) {
    print(`${kind} per call: ${median(rounds.map((cost) => cost[kind])).toFixed(1)}`)
  }
  print(`failed calls: ${errors}`)
  load.kill('SIGKILL')
  provider.child.removeAllListeners('exit')
  provider.child.kill('SIGKILL')
  process.exit(0)
}

async function relayBefore(providerUrl: string): Promise<RelayRig> {
  const rig = await relayRig()
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { baseUrl: providerUrl })
  await rig.grant(USER, BALANCE)
  return rig
}

type CallCount = {
  readonly count: () => number
  /** Resolves after this many more calls. */
  readonly more: (calls: number) => Promise<void>
}

function countCalls({ relay }: RelayRig): CallCount {
  let count = 0
  const { handle } = relay
  const counted: typeof handle = (request, response) => {
    count += 1
    handle(request, response)
  }
  Object.assign(relay, { handle: counted })
  return {
    count: () => count,
    more: async (calls) => {
      const end = count + calls
      while (count < end) await new Promise((resume) => setTimeout(resume, 5))
    },
  }
}

/** Lets appends pass through the queue of the Postgres store, whose connection discards them. */
function discardEvents(store: EventStore): void {
  let position = 1_000_000
  const connection: AppendConnection = {
    open: async () => ({ ended: new Promise(() => {}) }),
    drop: () => {},
    appendBatch: async (appends) => {
      const before = position
      for (const { events } of appends.flat()) position += events.length
      await new Promise((resume) => setImmediate(resume))
      return { before, currentRevisions: null }
    },
  }
  const queue = createAppendQueue({
    connection,
    findWritten: async () => null,
    revisionsOf: async () => new Map(),
    onCommitted: () => {},
    onFound: () => {},
    onNoPartition: async () => {},
    onFailure: (error) => {
      throw error
    },
  })
  const append: EventStore['append'] = async (streams) => queue.append(encodeAppend(streams))
  Object.assign(store, { append })
}

type Cost = Readonly<Record<'cpuUs' | 'mainThreadUs' | 'bytes' | 'promotedBytes', number>>

async function measure({ count, more }: CallCount): Promise<Cost> {
  globalThis.gc?.()
  const heap = getHeapStatistics().used_heap_size
  const atHeap = count()
  await more(CALLS_PER_BYTES_ROUND)
  const bytes = (getHeapStatistics().used_heap_size - heap) / (count() - atHeap)
  const cpu = process.cpuUsage()
  const thread = process.threadCpuUsage()
  const old = oldGenerationSize()
  const atCpu = count()
  await more(CALLS_PER_ROUND)
  const calls = count() - atCpu
  const all = process.cpuUsage(cpu)
  const main = process.threadCpuUsage(thread)
  return {
    cpuUs: (all.user + all.system) / calls,
    mainThreadUs: (main.user + main.system) / calls,
    bytes,
    promotedBytes: (oldGenerationSize() - old) / calls,
  }
}

/** Returns the used bytes of all spaces of the heap but the young generation. */
const oldGenerationSize = (): number =>
  getHeapSpaceStatistics()
    .filter(({ space_name }) => !space_name.startsWith('new_'))
    .reduce((sum, { space_used_size }) => sum + space_used_size, 0)

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN

const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

await bench()
