import { Client } from 'pg'
import { withDurableCommits } from '../postgres/durable-commits.ts'
import { type ArrayWriter, createArrayWriter } from './binary-arrays.ts'
import type { EncodedEvent } from './encoded-append.ts'

/** Events for one stream behind `expected`, the revision of its last event (-1: it is new). */
export type ExactPart = {
  readonly stream: string
  readonly expected: number
  readonly events: readonly EncodedEvent[]
}

/**
 * What was written stands behind the position `before`, in the order given. `actual`: null when
 * that is everything; else each part's actual revision, and the appends that had a wrong one,
 * and they alone, were not written.
 */
export type FlushResult = {
  readonly before: number
  readonly actual: readonly number[] | null
}

export type FlushConnection = {
  /** One transaction of several appends, of each all parts or none. Each stream occurs once. */
  readonly flush: (appends: readonly (readonly ExactPart[])[]) => Promise<FlushResult>
  /** Process id of the server's side of the connection; null when there is none. */
  readonly serverPid: () => number | null
  /** Drops the connection; the next flush opens another. */
  readonly drop: () => void
}

const CONNECT_WITHIN_MS = 3_000
const REPLY_WITHIN_MS = 4_000
// The one plan that stays right however the tables grow, so that it can be made once.
const PLANS =
  '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off ' +
  '-c plan_cache_mode=force_generic_plan -c application_name=tallygate-append'

/** The one connection that a process appends through. */
export function createFlushConnection(connectionString: string): FlushConnection {
  const writer = createArrayWriter()
  let client: Client | null = null

  const drop = (): void => {
    const old = client
    client = null
    old?.end().catch(() => {})
    old?.connection.stream.destroy()
  }
  const connect = async (): Promise<Client> => {
    if (client !== null) return client
    const opened = new Client({
      connectionString: withSettings(connectionString),
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      keepAlive: true,
    })
    opened.on('error', () => {
      if (client === opened) client = null
    })
    await opened.connect()
    client = opened
    return opened
  }
  return {
    drop,
    // The driver has it, its types don't say so.
    serverPid: () => (client as { processID?: number } | null)?.processID ?? null,
    flush: async (appends) => {
      const open = await connect()
      const late = setTimeout(drop, REPLY_WITHIN_MS)
      try {
        return await send(open, writer, appends)
      } finally {
        clearTimeout(late)
      }
    },
  }
}

async function send(
  client: Client,
  writer: ArrayWriter,
  appends: readonly (readonly ExactPart[])[],
): Promise<FlushResult> {
  writer.reset()
  const parts = appends.flat()
  const events = parts.flatMap((part) => part.events)
  const reached = parts.map((part) => part.expected + part.events.length)
  const { rows } = await client.query<[string[]]>({
    name: 'append',
    rowMode: 'array',
    text: 'select event_store.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)',
    values: [
      writer.texts(parts.map(({ stream }) => stream)),
      writer.int8s(parts.map(({ expected }) => expected)),
      writer.int8s(reached),
      writer.int8s(appends.flatMap((append, index) => append.map(() => index))),
      writer.texts(parts.flatMap((part) => part.events.map(() => part.stream))),
      writer.int8s(parts.flatMap((part) => part.events.map((_, i) => part.expected + 1 + i))),
      writer.uuids(events.map(({ id }) => id)),
      writer.texts(events.map(({ type }) => type)),
      writer.int2s(events.map(({ v }) => v)),
      writer.texts(events.map(({ data }) => data)),
      writer.texts(events.map(({ meta }) => meta.actor)),
      writer.texts(events.map(({ meta }) => meta.cause)),
      writer.int8s(events.map(({ meta }) => meta.at)),
    ],
  })
  const [before = -1, ...actual] = (rows[0]?.[0] ?? []).map(Number)
  return { before, actual: actual.length === 0 ? null : actual }
}

function withSettings(connectionString: string): string {
  const url = new URL(withDurableCommits(connectionString))
  const options = `${url.searchParams.get('options') ?? ''} ${PLANS}`
  url.searchParams.set('options', options)
  url.search = url.search.replaceAll('+', '%20')
  return url.href
}
