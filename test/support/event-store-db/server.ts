import { setTimeout as delay } from 'node:timers/promises'
import { status as grpcStatus, Server, ServerCredentials } from '@grpc/grpc-js'
import { appendCall, batchAppendCall, isTooLarge, type TakeAppend } from './append-calls.ts'
import { clusterInfo, type Members, notLeader } from './gossip.ts'
import { features, featuresGrpc, gossipGrpc, streamsGrpc } from './protocol.ts'
import { type ReadCall, readCall } from './read-call.ts'
import { openServerLog, type ServerLog } from './server-log.ts'

export type EventStoreDbServer = {
  readonly url: string
  readonly log: ServerLog
  /** Drops the replies of the next `count` appends after writing their events. */
  readonly dropReplies: (count: number) => void
  /**
   * Writes a foreign event before each of the next `count` appends, which then meet a conflict.
   * `stream` limits the conflicts to one stream. In an account, the foreign event changes nothing.
   * In other streams, its type is unknown.
   */
  readonly forceConflicts: (count: number, stream?: string) => void
  /** Drops all appends to this stream before writing. Null drops no appends. */
  readonly loseAppends: (stream: string | null) => void
  readonly slowDown: (ms: number) => void
  /** Keeps subscriptions open, but sends no more events. */
  readonly muteStreams: () => void
  /** Ends every subscription with an error. Returns the number of ended subscriptions. */
  readonly cutStreams: () => number
  readonly seen: () => { readonly appends: number; readonly batchAppends: number; dropped: number }
  /** Closes every connection and keeps the data. */
  readonly stop: () => Promise<void>
  readonly start: () => Promise<void>
}

/**
 * Simulates EventStoreDB with the real protocol, for machines without Docker. With `file`, data
 * survives a restart. With `members`, the server is a node of a cluster with the data in `log`.
 */
export async function startEventStoreDbServer(
  options: {
    readonly file?: string
    readonly port?: number
    readonly log?: ServerLog
    readonly members?: Members
  } = {},
): Promise<EventStoreDbServer> {
  const { members } = options
  const log = options.log ?? openServerLog(options.file ?? null)
  const reads = new Set<ReadCall>()
  const faults: Faults = {
    ...{ dropped: 0, drops: 0, slowMs: 0, appends: 0, batchAppends: 0 },
    ...{ conflicts: 0, conflictsOf: null, lostStream: null },
  }
  const take = takeAppend(log, faults)
  let port = options.port ?? 0
  let server: Server | null = null

  const start = async (): Promise<void> => {
    server = new Server({ 'grpc.max_receive_message_length': 17 * 1024 * 1024 })
    server.addService(featuresGrpc.ServerFeaturesService, {
      getSupportedMethods: (_: unknown, answer: (error: null, methods: unknown) => void) =>
        answer(null, supportedMethods()),
    })
    if (members !== undefined) {
      server.addService(gossipGrpc.GossipService, {
        read: (_: unknown, answer: (error: null, info: unknown) => void) =>
          answer(null, clusterInfo(members())),
      })
    }
    server.addService(streamsGrpc.StreamsService, {
      append: appendCall(
        async (...given) => {
          faults.appends += 1
          return await take(...given)
        },
        (asked) => notLeader(members, port, asked),
      ),
      batchAppend: batchAppendCall(async (...given) => {
        faults.batchAppends += 1
        return await take(...given)
      }),
      read: async (call: ReadCall) => {
        reads.add(call)
        call.on('error', () => {})
        if (faults.slowMs > 0) await delay(faults.slowMs)
        const refusal = notLeader(members, port, call.metadata)
        if (refusal !== null) return void call.emit('error', refusal)
        await readCall(log, call).finally(() => reads.delete(call))
      },
    })
    port = await bind(server, port)
  }
  await start()
  return {
    log,
    url: `esdb://127.0.0.1:${port}?tls=false`,
    dropReplies: (count) => {
      faults.drops = count
    },
    forceConflicts: (count, stream) => {
      faults.conflicts = count
      faults.conflictsOf = stream ?? null
    },
    loseAppends: (stream) => {
      faults.lostStream = stream
    },
    slowDown: (ms) => {
      faults.slowMs = ms
    },
    muteStreams: () => {
      for (const call of [...reads].filter(isSubscription)) call.write = () => true
    },
    cutStreams: () => {
      const subscriptions = [...reads].filter(isSubscription)
      for (const call of subscriptions) {
        call.emit('error', { code: grpcStatus.UNAVAILABLE, details: 'cut' })
        reads.delete(call)
      }
      return subscriptions.length
    },
    seen: () => faults,
    start,
    stop: async () => {
      server?.forceShutdown()
      server = null
    },
  }
}

type Faults = {
  dropped: number
  drops: number
  conflicts: number
  conflictsOf: string | null
  lostStream: string | null
  slowMs: number
  appends: number
  batchAppends: number
}

const isSubscription = (call: ReadCall): boolean =>
  call.request.getOptions()?.hasSubscription() === true

function takeAppend(log: ServerLog, faults: Faults): TakeAppend {
  return async (stream, expected, events) => {
    if (faults.slowMs > 0) await delay(faults.slowMs)
    if (isTooLarge(events)) return 'too-large'
    if (faults.lostStream === stream) return null
    if (faults.conflicts > 0 && (faults.conflictsOf ?? stream) === stream) {
      faults.conflicts -= 1
      log.append(stream, 'any', [foreignEvent(stream)])
    }
    const result = log.append(stream, expected, events)
    if (faults.drops === 0) return result
    faults.drops -= 1
    faults.dropped += 1
    return null
  }
}

const foreignEvent = (stream: string) => ({
  id: crypto.randomUUID(),
  ...foreignFact(stream),
  contentType: 'application/json',
  metadata: Buffer.from(JSON.stringify({ v: 1, actor: 'user:2', cause: null, at: Date.now() })),
})

/**
 * Returns an event of another writer. An account gets a known event type, because its decider could
 * not fold an unknown type.
 */
function foreignFact(stream: string): { readonly type: string; readonly data: Buffer } {
  const userId = /^account-(\d+)$/.exec(stream)?.[1]
  if (userId === undefined) return { type: 'SomebodyElseWrote', data: Buffer.from('{}') }
  const data = { userId: Number(userId), tokenIds: [] }
  return { type: 'TokenBudgetsClosed', data: Buffer.from(JSON.stringify(data)) }
}

function supportedMethods() {
  const supported = new features.SupportedMethods()
  supported.setEventStoreServerVersion('24.10.0')
  for (const name of ['append', 'batchappend', 'read']) {
    const method = new features.SupportedMethod()
    method.setServiceName('event_store.client.streams.Streams')
    method.setMethodName(name)
    supported.addMethods(method)
  }
  return supported
}

const bind = (server: Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    )
  })
