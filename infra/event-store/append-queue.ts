import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { DatabaseError } from 'pg'
import type { AppendBatchResult, AppendConnection, ExactStreamAppend } from './append-connection.ts'
import { type EncodedStreamAppend, EVENTS_PER_APPEND_MAX, exactRevision } from './encoded-append.ts'
import { type Appended, RevisionConflict, StoreUnavailable } from './port.ts'

export type AppendQueue = {
  readonly append: (requestedParts: readonly EncodedStreamAppend[]) => Promise<Appended>
  readonly close: () => Promise<void>
}

type Options = {
  readonly connection: AppendConnection
  /**
   * Returns the result of an append that an earlier attempt has written, or null if no attempt has
   * written it.
   */
  readonly findWritten: (parts: readonly ExactStreamAppend[]) => Promise<Appended | null>
  readonly revisionsOf: (streams: readonly string[]) => Promise<Map<string, number>>
  /**
   * Called after each transaction that has written appends, with the parts of these appends and the
   * position directly before the first event.
   */
  readonly onCommitted: (before: number, parts: readonly ExactStreamAppend[]) => void
  /**
   * Called with the position of the last event of an append, if an earlier attempt had already
   * written the append.
   */
  readonly onFound: (position: number) => void
  readonly onNoPartition: () => Promise<void>
  readonly onFailure: (error: unknown) => void
  readonly deadlineMs?: number
}

type Entry = {
  readonly requestedParts: readonly EncodedStreamAppend[]
  /**
   * The parts of the append, one per stream, each with an exact revision, so that a retry never
   * writes events twice.
   */
  parts: readonly ExactStreamAppend[]
  readonly eventCount: number
  readonly deadline: number
  readonly answer: PromiseWithResolvers<Appended>
  isOver: boolean
}

const DEADLINE_MS = 10_000
const WAITING_MAX = 20_000

/**
 * Combines appends into transactions. The appends that arrive during one transaction form the next
 * transaction, which has at most 500 events and at most one append per stream.
 *
 * If the outcome of a transaction is unknown, the appends are sent again with the same exact
 * revisions. If the first attempt was written, the second gets a conflict, finds the stored event
 * ids and succeeds.
 */
export function createAppendQueue(options: Options): AppendQueue {
  const { connection, deadlineMs = DEADLINE_MS } = options
  let waiting: Entry[] = []
  let inFlight: readonly Entry[] = []
  let running: Promise<void> | null = null
  let isClosed = false

  const expiry = timerWhileUsed(Math.min(1_000, deadlineMs / 4), () => {
    failExpired([...inFlight, ...waiting])
    return inFlight.length > 0 || waiting.length > 0
  })

  const run = async (): Promise<void> => {
    await nextTurn()
    for (let failures = 0; ; ) {
      waiting = waiting.filter(({ isOver }) => !isOver)
      if (waiting.length === 0) return
      const { batch, rest } = nextBatch(waiting)
      waiting = rest
      inFlight = batch
      try {
        waiting = [...(await writeBatch(batch, options)), ...waiting]
        failures = 0
      } catch (error) {
        options.onFailure(error)
        waiting = [...batch, ...waiting]
        failures += 1
        if (isClosed) return
        await delay(Math.min(10 * 2 ** failures, 500))
      }
      inFlight = []
    }
  }
  const start = (): void => {
    running ??= run().finally(() => {
      running = null
      inFlight = []
      if (waiting.length > 0 && !isClosed) start()
    })
  }
  return {
    append: async (requestedParts) => {
      if (isClosed) throw new StoreUnavailable('the event store is closed')
      if (waiting.length >= WAITING_MAX) throw new StoreUnavailable('too many appends wait')
      const entry = newEntry(requestedParts, performance.now() + deadlineMs)
      waiting.push(entry)
      expiry.start()
      start()
      return await entry.answer.promise
    },
    close: async () => {
      isClosed = true
      await running
      expiry.stop()
      for (const entry of waiting) finish(entry, new StoreUnavailable('the event store is closed'))
      connection.drop()
    },
  }
}

/**
 * Creates a timer. After `start`, the timer runs `work` every `ms` milliseconds until `work`
 * returns false, so that an idle process does not wake up.
 */
function timerWhileUsed(ms: number, work: () => boolean) {
  let timer: NodeJS.Timeout | null = null
  const stop = (): void => {
    if (timer !== null) clearInterval(timer)
    timer = null
  }
  const start = (): void => {
    timer ??= setInterval(() => {
      if (!work()) stop()
    }, ms).unref()
  }
  return { start, stop }
}

function failExpired(entries: readonly Entry[]): void {
  const now = performance.now()
  for (const entry of entries) {
    if (entry.deadline >= now) continue
    finish(entry, new StoreUnavailable('the event store did not answer in time'))
  }
}

function newEntry(requestedParts: readonly EncodedStreamAppend[], deadline: number): Entry {
  const eventCount = requestedParts.reduce((sum, { events }) => sum + events.length, 0)
  const answer = Promise.withResolvers<Appended>()
  return {
    requestedParts,
    parts: withExactRevisions(requestedParts, new Map()),
    eventCount,
    deadline,
    answer,
    isOver: false,
  }
}

/**
 * Replaces the expected revision `any` with the known revision of the stream. If the stream's
 * revision is unknown, uses `UNKNOWN` (-2), so that the revision is looked up.
 */
const withExactRevisions = (
  requestedParts: readonly EncodedStreamAppend[],
  revisions: ReadonlyMap<string, number>,
): ExactStreamAppend[] =>
  requestedParts.map(({ stream, expected, events }) => ({
    stream,
    expected: exactRevision(expected) ?? revisions.get(stream) ?? UNKNOWN,
    events,
  }))

const UNKNOWN = -2

function finish(entry: Entry, outcome: Appended | Error): void {
  if (entry.isOver) return
  entry.isOver = true
  if (outcome instanceof Error) entry.answer.reject(outcome)
  else entry.answer.resolve(outcome)
}

/**
 * Splits the waiting appends into the appends of the next transaction and the remaining ones.
 * Appends to one stream keep their order.
 */
function nextBatch(waiting: readonly Entry[]): { batch: Entry[]; rest: Entry[] } {
  const batch: Entry[] = []
  const rest: Entry[] = []
  const seen = new Set<string>()
  let count = 0
  for (const entry of waiting) {
    const isFree = entry.parts.every(({ stream }) => !seen.has(stream))
    const isTaken = isFree && count + entry.eventCount <= EVENTS_PER_APPEND_MAX
    for (const { stream } of entry.parts) seen.add(stream)
    if (isTaken) count += entry.eventCount
    ;(isTaken ? batch : rest).push(entry)
  }
  return { batch, rest }
}

/**
 * Sends one transaction. Resolves or rejects the appends whose outcome is known, and returns the
 * appends that must be sent again. Throws if the connection fails.
 */
async function writeBatch(batch: readonly Entry[], options: Options): Promise<Entry[]> {
  await lookUpRevisions(batch, options)
  let result: AppendBatchResult
  try {
    result = await options.connection.appendBatch(batch.map(({ parts }) => parts))
  } catch (error) {
    return await recoverFromError(batch, error, options)
  }
  const { before, currentRevisions } = result
  const conflicts = currentRevisions === null ? [] : findConflicts(batch, currentRevisions)
  const written = batch.filter((entry) => !conflicts.some((conflict) => conflict.entry === entry))
  answerAll(written, before)
  if (written.length > 0) {
    options.onCommitted(
      before,
      written.flatMap(({ parts }) => parts),
    )
  }
  return await settleConflicts(conflicts, options)
}

/**
 * An append whose expected revision is wrong. `index` is the index of the stream within the append.
 * `currentRevision` is the current revision of this stream.
 */
type FoundConflict = {
  readonly entry: Entry
  readonly index: number
  readonly currentRevision: number
}

function findConflicts(
  batch: readonly Entry[],
  currentRevisions: readonly number[],
): FoundConflict[] {
  const conflicts: FoundConflict[] = []
  let start = 0
  for (const entry of batch) {
    const revisions = currentRevisions.slice(start, start + entry.parts.length)
    start += entry.parts.length
    const index = entry.parts.findIndex(({ expected }, part) => expected !== revisions[part])
    if (index >= 0) conflicts.push({ entry, index, currentRevision: revisions[index] ?? -1 })
  }
  return conflicts
}

async function lookUpRevisions(batch: readonly Entry[], options: Options): Promise<void> {
  const unknown = batch.flatMap(({ parts }) =>
    parts.filter(({ expected }) => expected === UNKNOWN).map(({ stream }) => stream),
  )
  if (unknown.length === 0) return
  const revisions = await options.revisionsOf(unknown)
  for (const entry of batch) {
    entry.parts = entry.parts.map((part) =>
      part.expected === UNKNOWN ? { ...part, expected: revisions.get(part.stream) ?? -1 } : part,
    )
  }
}

/**
 * Handles a failed transaction. If a partition is missing, calls `onNoPartition` and returns all
 * appends for a retry. If an append has invalid data, sends each append in a separate transaction
 * and rejects the invalid one. After any other error, drops the connection and throws.
 */
async function recoverFromError(
  batch: readonly Entry[],
  error: unknown,
  options: Options,
): Promise<Entry[]> {
  const code = error instanceof DatabaseError ? (error.code ?? '') : ''
  if (code === '23514') {
    await options.onNoPartition()
    return [...batch]
  }
  if (!/^(21|22|23|54)/.test(code)) {
    options.connection.drop()
    throw error
  }
  const [first, ...others] = batch
  if (first !== undefined && others.length === 0) {
    finish(first, error as Error)
    return []
  }
  const left: Entry[] = []
  for (const entry of batch) left.push(...(await writeBatch([entry], options)))
  return left
}

function answerAll(batch: readonly Entry[], before: number): void {
  let position = before
  for (const entry of batch) {
    const streams = entry.parts.map(({ stream, expected, events }) => ({
      stream,
      revision: expected + events.length,
      positions: events.map(() => {
        position += 1
        return position
      }),
    }))
    finish(entry, { position, streams })
  }
}

/**
 * Handles appends whose expected revision is wrong. An append that an earlier attempt has written
 * resolves. An append at revision `any` is returned for a retry. Every other append is rejected.
 */
async function settleConflicts(
  conflicts: readonly FoundConflict[],
  options: Options,
): Promise<Entry[]> {
  const retries: Entry[] = []
  for (const { entry, index, currentRevision } of conflicts) {
    const part = entry.requestedParts[index]
    if (part === undefined) throw new Error(`an append without its part ${index}`)
    const written = await options.findWritten(entry.parts)
    if (written !== null) {
      options.onFound(written.position)
      finish(entry, written)
    } else if (part.expected === 'any') {
      entry.parts = withExactRevisions(entry.requestedParts, new Map())
      retries.push(entry)
    } else {
      finish(entry, new RevisionConflict(part.stream, part.expected, currentRevision))
    }
  }
  return retries
}
