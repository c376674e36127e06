import { EventStoreDBClient } from '@eventstore/db-client'
import { ConfigError } from '../../config/config-types.ts'

export type Connection = {
  readonly client: () => EventStoreDBClient
  /**
   * Replaces a client that has lost its connection or a reply. Does nothing if `failed` has already
   * been replaced.
   */
  readonly replace: (failed: EventStoreDBClient) => void
  readonly close: () => void
}

/** The members of the client (6.2.1, pinned) that its type declarations lack. */
type ClientInternals = {
  supports: (method: unknown) => Promise<boolean>
  getChannel: () => Promise<{ close(): void }>
}

const KEEPALIVE_MS = 10_000
const ATTEMPT_WITHIN_MS = 4_000
let connectionCount = 0

/**
 * Connects to `url`, whose scheme is `esdb` or `kurrentdb`. Throws `ConfigError` if `url` is
 * invalid.
 *
 * NOTE: the client's default batch append sends all appends through one stream and a module-global
 * map. With batch appends, a broken stream rejects appends of other clients, and a late answer
 * throws in an event handler. A write that waits for `drain` becomes an unhandled rejection.
 * `supports` therefore reports no batch append, and the client makes one call per append.
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

/** Closes the client's connection once the calls in progress have ended. */
function closeChannel(client: EventStoreDBClient): void {
  ;(client as unknown as ClientInternals)
    .getChannel()
    .then((channel) => channel.close())
    .catch(() => {})
}

function newClient(url: string): EventStoreDBClient {
  const client = parsed(withOwnConnection(url))
  ;(client as unknown as ClientInternals).supports = async () => false
  return client
}

/**
 * Parses the URL. Only the first line of the client's error message is used, because the other
 * lines quote the internal options that this file adds.
 */
function parsed(url: string): EventStoreDBClient {
  try {
    return EventStoreDBClient.connectionString(url)
  } catch (error) {
    const [reason = ''] = (error as Error).message.replace(/ at position \d+/, '').split('\n')
    throw new ConfigError('EVENTSTORE_URL', `can't be used: ${reason}`)
  }
}

/**
 * Gives each client a different keep-alive interval, because the client library lets clients with
 * equal options share a connection.
 */
function withOwnConnection(url: string): string {
  connectionCount += 1
  const [address = '', query = '', more] = url.replace(/^kurrentdb/, 'esdb').split('?')
  if (more !== undefined) throw new ConfigError('EVENTSTORE_URL', 'may contain only one "?"')
  const options = new URLSearchParams(query)
  const intervalText = options.get('keepAliveInterval') ?? String(KEEPALIVE_MS)
  if (!/^[1-9]\d{0,8}$/.test(intervalText)) {
    const reason = `keepAliveInterval must be a whole number of milliseconds, not "${intervalText}"`
    throw new ConfigError('EVENTSTORE_URL', reason)
  }
  const interval = Number(intervalText)
  options.set('keepAliveInterval', String(interval + (connectionCount % 1_000)))
  if (!options.has('defaultDeadline')) options.set('defaultDeadline', String(ATTEMPT_WITHIN_MS))
  // Spaces are encoded as `%20`, because the client does not decode `+` as a space.
  return `${address.replace(/\/+$/, '')}?${String(options).replaceAll('+', '%20')}`
}
