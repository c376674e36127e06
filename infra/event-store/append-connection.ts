import { Client, DatabaseError } from 'pg'
import { withDurableCommits } from '../postgres/pools.ts'
import { type ArrayWriter, createArrayWriter } from './encode-postgres-arrays.ts'
import type { EncodedEvent } from './encoded-append.ts'
import { APPEND_EVENT, CHANNEL } from './postgres-schema.ts'

/**
 * Encoded events for one stream. `expected` is the revision of the stream's last event before the
 * append, or -1 for a new stream. This revision is always exact, so that a retry can't write the
 * events twice.
 */
export type ExactStreamAppend = {
  readonly stream: string
  readonly expected: number
  readonly events: readonly EncodedEvent[]
  readonly mustBeNew?: boolean
}

/**
 * The result of one transaction with several appends. The written events have the positions
 * directly after `before`. `currentRevisions` is null if all appends were written. If not, this
 * list has the revision that each stream had before the transaction, in the order of the appends.
 * An append was written only if all of its streams had the expected revisions.
 */
export type AppendBatchResult = {
  readonly before: number
  readonly currentRevisions: readonly number[] | null
}

export type AppendConnection = {
  /**
   * Writes several appends in one transaction. Each append, which may concern several streams, is
   * written completely or not at all. Two appends in one transaction can't write to the same
   * stream.
   */
  readonly appendBatch: (
    appends: readonly (readonly ExactStreamAppend[])[],
  ) => Promise<AppendBatchResult>
  /**
   * Opens the connection if it is not open. The returned `ended` resolves when the connection ends.
   */
  readonly open: () => Promise<{ readonly ended: Promise<void> }>
  readonly drop: () => void
}

/**
 * Called after another process has committed events, with the position of the last of these events.
 */
export type OnForeignCommit = (position: number) => void

const CONNECT_WITHIN_MS = 3_000
const REPLY_WITHIN_MS = 4_000
/**
 * The time in milliseconds after a conflict with another process during which more conflicts are
 * likely. During this time, all appends use the SQL function that reports revisions.
 */
const AFTER_CONFLICT_MS = 10_000
/** The session's name in Postgres, which overrides a name in the connection string. */
export const APPEND_SESSION = 'tallygate-append'
// These settings force a query plan that stays efficient as the tables grow.
const PLANS =
  '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off ' +
  '-c plan_cache_mode=force_generic_plan'

type Open = {
  readonly client: Client
  readonly ready: Promise<Client>
  readonly ended: Promise<void>
}

/**
 * Creates one connection for appends and for notifications of commits. Postgres tells a notified
 * connection which connection sent the notification. This process can therefore ignore the
 * notifications of its own commits.
 */
export function createAppendConnection(
  connectionString: string,
  onForeignCommit: OnForeignCommit,
): AppendConnection {
  const settings = withSettings(connectionString)
  const writer = createArrayWriter()
  let current: Open | null = null
  let conflictUntil = 0

  const drop = (): void => {
    const old = current
    current = null
    old?.client.connection.stream.destroy()
  }
  const connection = (): Open => {
    if (current !== null) return current
    const next = openConnection(settings, onForeignCommit)
    const forget = (): void => {
      if (current === next) current = null
    }
    void next.ended.then(forget)
    next.ready.catch(forget)
    current = next
    return next
  }
  return {
    drop,
    open: async () => {
      const { ready, ended } = connection()
      await ready
      return { ended }
    },
    appendBatch: async (appends) => {
      const open = await connection().ready
      const late = setTimeout(drop, REPLY_WITHIN_MS)
      try {
        const single = performance.now() < conflictUntil ? null : singleEvent(appends)
        const before = single === null ? null : await sendSingle(open, single)
        if (before !== null) return { before, currentRevisions: null }
        if (single !== null) conflictUntil = performance.now() + AFTER_CONFLICT_MS
        return await send(open, writer, appends)
      } finally {
        clearTimeout(late)
      }
    },
  }
}

function openConnection(connectionString: string, onForeignCommit: OnForeignCommit): Open {
  const client = new Client({
    connectionString,
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    keepAlive: true,
  })
  const ended = Promise.withResolvers<void>()
  client.on('error', () => {})
  client.on('end', () => ended.resolve())
  client.on('notification', ({ payload, processId }) => {
    if (processId !== serverPidOf(client)) onForeignCommit(Number(payload))
  })
  const start = async (): Promise<Client> => {
    const late = setTimeout(() => client.connection.stream.destroy(), REPLY_WITHIN_MS)
    try {
      await client.connect()
      await client.query(`listen ${CHANNEL}`)
      return client
    } catch (error) {
      client.connection.stream.destroy()
      throw error
    } finally {
      clearTimeout(late)
    }
  }
  return { client, ready: start(), ended: ended.promise }
}

/**
 * Returns the pid of the Postgres process that serves this connection. The driver's type
 * declarations lack this property.
 */
const serverPidOf = (client: Client): number | null =>
  (client as { processID?: number }).processID ?? null

type SingleEvent = {
  readonly stream: string
  readonly expected: number
  readonly event: EncodedEvent
}

/**
 * Returns the event if the transaction appends exactly one event to an existing stream, else null.
 */
function singleEvent(appends: readonly (readonly ExactStreamAppend[])[]): SingleEvent | null {
  const [part, otherPart] = appends[0] ?? []
  if (appends.length > 1 || part === undefined || otherPart !== undefined) return null
  const { stream, expected, events } = part
  const [event, otherEvent] = events
  if (event === undefined || otherEvent !== undefined || expected < 0) return null
  return { stream, expected, event }
}

const NOT_NULL_VIOLATION = '23502'

/**
 * Writes one event with one statement, which costs Postgres half as much as the function `append`.
 * Returns the position before the event. If the stream has another revision, writes nothing and
 * returns null.
 */
async function sendSingle(
  client: Client,
  { stream, expected, event: { id, type, v, data, meta } }: SingleEvent,
): Promise<number | null> {
  const { actor, cause, at } = meta
  try {
    const { rows } = await client.query<[string]>({
      name: 'append-event',
      rowMode: 'array',
      text: APPEND_EVENT,
      values: [stream, expected, id, type, v, data, actor, cause, at],
    })
    return Number(rows[0]?.[0]) - 1
  } catch (error) {
    if (error instanceof DatabaseError && error.code === NOT_NULL_VIOLATION) return null
    throw error
  }
}

async function send(
  client: Client,
  writer: ArrayWriter,
  appends: readonly (readonly ExactStreamAppend[])[],
): Promise<AppendBatchResult> {
  writer.reset()
  const parts: { readonly part: ExactStreamAppend; readonly append: number }[] = []
  const rows: { readonly stream: string; readonly revision: number; event: EncodedEvent }[] = []
  for (const [append, own] of appends.entries()) {
    for (const part of own) {
      parts.push({ part, append })
      let revision = part.expected
      for (const event of part.events)
        rows.push({ stream: part.stream, revision: ++revision, event })
    }
  }
  const { rows: answer } = await client.query<[string[]]>({
    name: 'append',
    rowMode: 'array',
    text: 'select event_store.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)',
    values: [
      writer.texts(parts, ({ part }) => part.stream),
      writer.int8s(parts, ({ part }) => part.expected),
      writer.int8s(parts, ({ part }) => part.expected + part.events.length),
      writer.int8s(parts, ({ append }) => append),
      writer.texts(rows, ({ stream }) => stream),
      writer.int8s(rows, ({ revision }) => revision),
      writer.uuids(rows, ({ event }) => event.id),
      writer.texts(rows, ({ event }) => event.type),
      writer.int2s(rows, ({ event }) => event.v),
      writer.texts(rows, ({ event }) => event.data),
      writer.texts(rows, ({ event }) => event.meta.actor),
      writer.texts(rows, ({ event }) => event.meta.cause),
      writer.int8s(rows, ({ event }) => event.meta.at),
    ],
  })
  const [before = -1, ...revisions] = (answer[0]?.[0] ?? []).map(Number)
  return { before, currentRevisions: revisions.length === 0 ? null : revisions }
}

function withSettings(connectionString: string): string {
  const url = new URL(withDurableCommits(connectionString))
  const options = `${url.searchParams.get('options') ?? ''} ${PLANS}`
  url.searchParams.set('options', options)
  url.searchParams.set('application_name', APPEND_SESSION)
  url.search = url.search.replaceAll('+', '%20')
  return url.href
}
