import { setTimeout as delay } from 'node:timers/promises'
import {
  ANY,
  type EventStoreDBClient,
  jsonEvent,
  MaxAppendSizeExceededError,
  NO_STREAM,
  NotLeaderError,
  StreamDeletedError,
  WrongExpectedVersionError,
} from '@eventstore/db-client'
import type { Logger } from 'pino'
import { reasonOf, warnThrottled } from '#infra/telemetry/log.ts'
import type { ExactStreamAppend } from '../append-connection.ts'
import { InvalidAppend } from '../encoded-append.ts'
import { StoreUnavailable } from '../port.ts'
import type { Connection } from './connection.ts'
import type { EventReads } from './event-reads.ts'
import { proposedEvents, type StoredEvent, safePosition } from './stored-event.ts'

/**
 * An append to one stream that was written. `positions` has one entry per event. If the server
 * returns only the last position, every entry has this position.
 */
export type WrittenStreamAppend = {
  readonly isWritten: true
  readonly revision: number
  readonly positions: readonly number[]
  /**
   * The stored events, if an earlier attempt had written them; null if this call has written them.
   */
  readonly found: readonly StoredEvent[] | null
}

export type StreamAppendResult =
  | WrittenStreamAppend
  | { readonly isWritten: false; readonly currentRevision: number }

export type ExactAppend = (
  part: ExactStreamAppend,
  /** The `performance.now()` after which the function throws `StoreUnavailable`. */
  deadline: number,
  others?: readonly ExactStreamAppend[],
) => Promise<StreamAppendResult>

type Options = {
  readonly connection: Connection
  readonly reads: EventReads
  readonly log: Logger
  /** The time without a reply in milliseconds after which an append is sent again. */
  readonly replyWithinMs: number
}

const REPLY_MIN_MS = 50
const PAUSE_MAX_MS = 400

/**
 * Creates a function that appends to one stream at an exact revision. If the outcome is unknown,
 * the same event ids are sent again through another client until the deadline.
 */
export function createExactAppend(options: Options): ExactAppend {
  const { connection, reads, log, replyWithinMs } = options
  return async (part, deadline, others = []) => {
    for (let attempt = 1; ; attempt += 1) {
      const leftMs = deadline - performance.now()
      if (leftMs <= 0) throw new StoreUnavailable('the event store did not answer in time')
      const client = connection.client()
      try {
        const withinMs = Math.max(REPLY_MIN_MS, Math.min(leftMs, replyWithinMs))
        return await tryAppend(client, part, others, withinMs, reads)
      } catch (error) {
        const refused = refusalOf(error)
        if (refused !== null) throw refused
        warnThrottled(
          log,
          { reason: reasonOf(error) },
          'a request to the event store failed and will be retried',
        )
        // After a change of the leader node, the client connects to the new leader by itself, so
        // the client is not replaced.
        if (!(error instanceof NotLeaderError)) connection.replace(client)
        await delay(Math.min(10 * 2 ** attempt, PAUSE_MAX_MS) * (0.5 + Math.random() / 2))
      }
    }
  }
}

/**
 * Returns the error to throw if the server has permanently refused the append, or null if the
 * append can be retried.
 */
function refusalOf(error: unknown): Error | null {
  if (error instanceof MaxAppendSizeExceededError) {
    return new InvalidAppend(`the server takes at most ${error.maxAppendSize} bytes in one append`)
  }
  if (error instanceof StreamDeletedError) return new InvalidAppend(error.message)
  return null
}

async function tryAppend(
  client: ReturnType<Connection['client']>,
  part: ExactStreamAppend,
  others: readonly ExactStreamAppend[],
  deadline: number,
  reads: EventReads,
): Promise<StreamAppendResult> {
  const { stream, expected, events } = part
  const expectedRevision = expected < 0 ? NO_STREAM : BigInt(expected)
  let conflict: WrongExpectedVersionError | null = null
  try {
    const answer = await within(
      deadline,
      client.appendToStream(stream, proposedEvents(events, others), {
        expectedRevision,
        requiresLeader: true,
        deadline,
      }),
    )
    // The reply to a repeated append has no position, so the events are looked up.
    if (answer.position !== undefined) {
      const position = safePosition(answer.position.commit)
      const revision = expected + events.length
      return { isWritten: true, revision, positions: events.map(() => position), found: null }
    }
  } catch (error) {
    if (!(error instanceof WrongExpectedVersionError)) throw error
    conflict = error
  }
  const found = await findWrittenAppend(part, reads)
  if (found !== null) return found
  if (conflict === null) throw new Error(`stream ${stream}: written, but not found`)
  const current = conflict.actualVersion
  return { isWritten: false, currentRevision: typeof current === 'bigint' ? Number(current) : -1 }
}

/**
 * Returns the result of the append if its events are already stored at their exact revisions;
 * otherwise null.
 */
export async function findWrittenAppend(
  { stream, expected, events }: ExactStreamAppend,
  reads: EventReads,
): Promise<WrittenStreamAppend | null> {
  const stored = await reads.readStream(stream, expected + 1, events.length)
  return asWritten(stored, events)
}

export function asWritten(
  stored: readonly StoredEvent[],
  events: ExactStreamAppend['events'],
): WrittenStreamAppend | null {
  const last = stored[events.length - 1]
  if (last === undefined) return null
  if (!events.every(({ id }, index) => stored[index]?.recorded.id === id)) return null
  return {
    isWritten: true,
    revision: last.recorded.revision,
    positions: stored.map(({ recorded }) => recorded.position),
    found: stored,
  }
}

const PROBE_STREAM = 'readiness-probe'
/**
 * The type of probe events. Types that begin with `$` are excluded from every read and
 * subscription.
 */
const PROBE_TYPE = '$readiness-probe'
/** The maximum number of probe events. A scavenge of the server deletes older probe events. */
const PROBES_KEPT = 10
const PROBE_WITHIN_MS = 1_500
const PROBE_AGAIN_MS = 50

/**
 * Creates a function that appends a probe event. A read would not be enough, because a server with
 * a full disk still serves reads. A failed probe is repeated until the time limit.
 */
export function createAppendProbe(connection: Connection): () => Promise<void> {
  let isBounded = false
  return async () => {
    const deadline = performance.now() + PROBE_WITHIN_MS
    for (;;) {
      const client = connection.client()
      try {
        if (!isBounded) await boundProbes(client, deadline - performance.now())
        isBounded = true
        const probe = jsonEvent({ type: PROBE_TYPE, data: {} })
        const leftMs = deadline - performance.now()
        const options = { expectedRevision: ANY, requiresLeader: true, deadline: leftMs } as const
        await within(leftMs, client.appendToStream(PROBE_STREAM, probe, options))
        return
      } catch (error) {
        if (!(error instanceof NotLeaderError)) connection.replace(client)
        await delay(PROBE_AGAIN_MS)
        if (performance.now() < deadline) continue
        throw new StoreUnavailable('the event store takes no appends', { cause: error })
      }
    }
  }
}

/**
 * Sets the maximum number of events in the stream of readiness probes, unless the stream already
 * has metadata. The server stores the maximum in the metadata of this stream.
 */
async function boundProbes(client: EventStoreDBClient, withinMs: number): Promise<void> {
  const options = { expectedRevision: NO_STREAM, requiresLeader: true, deadline: withinMs } as const
  try {
    const metadata = { maxCount: PROBES_KEPT }
    await within(withinMs, client.setStreamMetadata(PROBE_STREAM, metadata, options))
  } catch (error) {
    if (!(error instanceof WrongExpectedVersionError)) throw error
  }
}

/**
 * Settles as `answer` does, or rejects after about `ms` milliseconds. This limit is needed because
 * the client may miss its own deadline.
 */
async function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${ms} ms`)), ms + 50)
  try {
    return await Promise.race([answer, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
