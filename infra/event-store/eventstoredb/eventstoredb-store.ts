import type { Logger } from 'pino'
import { type EncodedStreamAppend, encodeAppend, exactRevision } from '../encoded-append.ts'
import {
  type Appended,
  type EventStore,
  RevisionConflict,
  StoreUnavailable,
  type StreamAppend,
  type Subscription,
} from '../port.ts'
import {
  createAppendProbe,
  createExactAppend,
  type WrittenStreamAppend,
} from './append-at-revision.ts'
import { appendTogether, type JointDeps } from './append-to-several-streams.ts'
import { subscribeToAll } from './catch-up-subscription.ts'
import { connectEventStoreDb } from './connection.ts'
import { createEventReads, type EventReads } from './event-reads.ts'
import { startJointAppendRecovery } from './finish-interrupted-appends.ts'
import type { RecoveryTimes } from './interrupted-append-timings.ts'
import { type Locks, LockTimeout } from './locks.ts'

type Options = {
  /**
   * The address of the server, such as `esdb://host:2113?tls=false` or `esdb+discover://…`. The
   * scheme can also be `kurrentdb`.
   */
  readonly url: string
  /** The locks with which processes exclude each other. Closing the store also closes the locks. */
  readonly locks: Locks
  readonly log: Logger
  readonly deadlineMs?: number
  /**
   * The time without a reply in milliseconds after which an append is sent again on another
   * connection.
   */
  readonly replyWithinMs?: number
  readonly recovery?: RecoveryTimes
  /** The time without a delivery in milliseconds after which a subscription is checked. */
  readonly idleCheckMs?: number
}

const DEADLINE_MS = 10_000
const REPLY_WITHIN_MS = 4_000
const IDLE_CHECK_MS = 5_000
const READ_MAX = 1_000_000

/**
 * Creates an event store in EventStoreDB. Throws `StoreUnavailable` if the server does not answer.
 */
export async function createEventStoreDbStore(options: Options): Promise<EventStore> {
  const { url, locks, log, deadlineMs = DEADLINE_MS, replyWithinMs = REPLY_WITHIN_MS } = options
  // A write connection that loses a reply is replaced, so reads use another connection.
  const [writing, reading] = [connectEventStoreDb(url), connectEventStoreDb(url)]
  const reads = createEventReads(reading)
  const appendExact = createExactAppend({ connection: writing, reads, log, replyWithinMs })
  const joint = { reads, locks, log, append: appendExact }
  const appendAny = createAppendAny(joint)
  const subscriptions = new Set<Subscription>()
  let isClosed = false
  await reads.headPosition()
  const recovery = startJointAppendRecovery(joint, options.recovery)
  const underWay = new Set<Promise<unknown>>()
  const append = async (streams: readonly StreamAppend[]): Promise<Appended> => {
    const parts = encodeAppend(streams)
    const deadline = performance.now() + deadlineMs
    const [single] = parts
    return single !== undefined && parts.length === 1
      ? answer(parts, [await appendOne(single, deadline, joint, appendAny)])
      : answer(parts, await appendJoint(parts, deadline, joint))
  }
  return {
    append: async (streams) => {
      if (isClosed) throw new StoreUnavailable('the event store is closed')
      const appending = append(streams)
      underWay.add(appending)
      return await appending.finally(() => underWay.delete(appending))
    },
    ...recordedReads(reads),
    probeAppend: createAppendProbe(writing),
    subscribeAll: (after, onBatch, onError, subscribeOptions) => {
      const subscription = subscribeToAll({
        connection: reading,
        headPosition: reads.headPosition,
        log,
        idleCheckMs: options.idleCheckMs ?? IDLE_CHECK_MS,
        after,
        onBatch,
        onError,
        options: subscribeOptions,
        onStopped: () => subscriptions.delete(subscription),
      })
      subscriptions.add(subscription)
      return subscription
    },
    close: async () => {
      isClosed = true
      await Promise.all([...subscriptions].map((subscription) => subscription.stop()))
      await Promise.allSettled(underWay)
      await recovery.stop()
      await locks.close()
      writing.close()
      reading.close()
    },
  }
}

type RecordedReads = Pick<EventStore, 'readStream' | 'readAll' | 'eventAt' | 'headPosition'>

/** Returns the reads of an event store, which return events without the data for joint appends. */
const recordedReads = (reads: EventReads): RecordedReads => ({
  readStream: async (stream, from = 0, limit = READ_MAX) =>
    (await reads.readStream(stream, from, limit)).map(({ recorded }) => recorded),
  readAll: async (after, limit) =>
    (await reads.readAll(after, limit)).map(({ recorded }) => recorded),
  eventAt: async (position) => (await reads.eventAt(position))?.recorded ?? null,
  headPosition: reads.headPosition,
})

function answer(
  parts: readonly EncodedStreamAppend[],
  written: readonly WrittenStreamAppend[],
): Appended {
  return {
    position: Math.max(...written.flatMap(({ positions }) => positions)),
    streams: written.map(({ revision, positions }, index) => ({
      stream: parts[index]?.stream ?? '',
      revision,
      positions,
    })),
  }
}

async function appendJoint(
  parts: readonly EncodedStreamAppend[],
  deadline: number,
  joint: JointDeps,
): Promise<WrittenStreamAppend[]> {
  try {
    return await appendTogether(parts, deadline, joint)
  } catch (error) {
    if (!(error instanceof LockTimeout)) throw error
    throw new StoreUnavailable(error.message, { cause: error })
  }
}

type AppendAny = (part: EncodedStreamAppend, deadline: number) => Promise<WrittenStreamAppend>

async function appendOne(
  part: EncodedStreamAppend,
  deadline: number,
  joint: JointDeps,
  appendAny: AppendAny,
): Promise<WrittenStreamAppend> {
  const { stream, events } = part
  const expected = exactRevision(part.expected)
  if (expected === null) return await appendAny(part, deadline)
  const result = await joint.append({ stream, expected, events }, deadline)
  if (result.isWritten) return result
  throw new RevisionConflict(stream, part.expected, result.currentRevision)
}

/**
 * Creates a function that runs a stream's appends with revision `any` one at a time. Each append is
 * sent at the exact revision that the append before it reached or, if none was waiting, at the
 * stream's last revision.
 */
function createAppendAny({ append, reads }: JointDeps): AppendAny {
  const mutex = createKeyedMutex<number>()
  return ({ stream, events }, deadline) =>
    mutex(stream, async (reached) => {
      let expected = reached ?? (await reads.lastRevision(stream))
      for (;;) {
        const result = await append({ stream, expected, events }, deadline)
        if (result.isWritten) return { result, passOn: result.revision }
        expected = result.currentRevision
      }
    })
}

/** Runs work items of the same name one at a time. A work item can pass a value to the next one. */
type KeyedMutex<T> = <R>(
  name: string,
  work: (passed: T | null) => Promise<{ readonly result: R; readonly passOn: T | null }>,
) => Promise<R>

function createKeyedMutex<T>(): KeyedMutex<T> {
  const lasts = new Map<string, Promise<T | null>>()
  return async (name, work) => {
    const before = lasts.get(name) ?? Promise.resolve(null)
    const outcome = before.then(work)
    const last = outcome.then(
      ({ passOn }) => passOn,
      () => null,
    )
    lasts.set(name, last)
    try {
      return (await outcome).result
    } finally {
      if (lasts.get(name) === last) lasts.delete(name)
    }
  }
}
