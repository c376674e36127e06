import { EventStoreDBClient } from '@eventstore/db-client'
import { ConfigError } from '../../config/config.ts'

/** A client of the server, which can be exchanged for a new one. */
export type Connection = {
  readonly client: () => EventStoreDBClient
  /** `failed` lost a reply or its connection: whoever asks next gets another, if not already. */
  readonly replace: (failed: EventStoreDBClient) => void
  readonly close: () => void
}

/** The parts of the client (6.2.1, pinned) that its types keep to themselves. */
type Inner = {
  supports: (method: unknown) => Promise<boolean>
  getChannel: () => Promise<{ close(): void }>
}

const KEEPALIVE_MS = 10_000
const ATTEMPT_WITHIN_MS = 4_000
let opened = 0

/**
 * `url` as the client takes it (`esdb://`, `esdb+discover://`), or with `kurrentdb` for `esdb`.
 * Throws `ConfigError` when it can't be parsed.
 *
 * NOTE: the client would send appends through one duplex stream and a module-global map: a broken
 * stream rejects other clients' appends, an answer that then still comes throws in an event
 * handler, and a write that waits for `drain` becomes an unhandled rejection. Told that the server
 * has no batch append, it makes one call for each append, with a deadline of its own.
 */
export function connectEventStoreDb(url: string): Connection {
  let current = newClient(url)
  let isClosed = false
  return {
    client: () => current,
    replace: (failed) => {
      if (failed !== current || isClosed) return
      current = newClient(url)
      closeChannel(failed)
    },
    close: () => {
      isClosed = true
      closeChannel(current)
    },
  }
}

/** Calls under way end by themselves; the connection is given up after them. */
function closeChannel(client: EventStoreDBClient): void {
  ;(client as unknown as Inner)
    .getChannel()
    .then((channel) => channel.close())
    .catch(() => {})
}

function newClient(url: string): EventStoreDBClient {
  const client = parsed(withOwnConnection(url))
  ;(client as unknown as Inner).supports = async () => false
  return client
}

/** The client's own words say what is wrong, but quote what we added; the first line will do. */
function parsed(url: string): EventStoreDBClient {
  try {
    return EventStoreDBClient.connectionString(url)
  } catch (error) {
    const [fault = ''] = (error as Error).message.replace(/ at position \d+/, '').split('\n')
    throw new ConfigError('EVENTSTORE_URL', `can't be used: ${fault}`)
  }
}

/**
 * Clients with equal options share a connection, and with it what is wrong with it: a keep-alive
 * interval that differs by milliseconds makes each one's its own.
 */
function withOwnConnection(url: string): string {
  opened += 1
  const [address = '', query = '', more] = url.replace(/^kurrentdb/, 'esdb').split('?')
  if (more !== undefined) throw new ConfigError('EVENTSTORE_URL', 'may have one "?" only')
  const options = new URLSearchParams(query)
  const given = options.get('keepAliveInterval') ?? String(KEEPALIVE_MS)
  if (!/^[1-9]\d{0,8}$/.test(given)) {
    const fault = `keepAliveInterval must be a whole number of milliseconds, not "${given}"`
    throw new ConfigError('EVENTSTORE_URL', fault)
  }
  const interval = Number(given)
  options.set('keepAliveInterval', String(interval + (opened % 1_000)))
  if (!options.has('defaultDeadline')) options.set('defaultDeadline', String(ATTEMPT_WITHIN_MS))
  // A blank as the client decodes it.
  return `${address.replace(/\/+$/, '')}?${String(options).replaceAll('+', '%20')}`
}
