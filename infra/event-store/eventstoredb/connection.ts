import { EventStoreDBClient } from '@eventstore/db-client'
import { ConfigError } from '../../config/config.ts'

/** A connection whose client can be replaced by a new client. */
export type Connection = {
  readonly client: () => EventStoreDBClient
  /**
   * Replaces the client `failed`, which lost a reply or its connection. Does nothing if this client
   * was already replaced.
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
let opened = 0

/**
 * Connects to `url`, which has a scheme of the client (`esdb://`, `esdb+discover://`) or
 * `kurrentdb` in place of `esdb`. Throws `ConfigError` when the URL can't be parsed.
 *
 * NOTE: by default the client sends appends through one duplex stream and a module-global map. With
 * this default, a broken stream rejects the appends of other clients, a late answer throws in an
 * event handler, and a write that waits for `drain` becomes an unhandled rejection. When `supports`
 * reports that the server has no batch append, the client makes one call per append, each with a
 * separate deadline.
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
 * lines quote options that this file added.
 */
function parsed(url: string): EventStoreDBClient {
  try {
    return EventStoreDBClient.connectionString(url)
  } catch (error) {
    const [fault = ''] = (error as Error).message.replace(/ at position \d+/, '').split('\n')
    throw new ConfigError('EVENTSTORE_URL', `can't be used: ${fault}`)
  }
}

/**
 * Adds a keep-alive interval that differs by milliseconds for each client. Clients with equal
 * options would share a connection and its failures.
 */
function withOwnConnection(url: string): string {
  opened += 1
  const [address = '', query = '', more] = url.replace(/^kurrentdb/, 'esdb').split('?')
  if (more !== undefined) throw new ConfigError('EVENTSTORE_URL', 'may contain only one "?"')
  const options = new URLSearchParams(query)
  const given = options.get('keepAliveInterval') ?? String(KEEPALIVE_MS)
  if (!/^[1-9]\d{0,8}$/.test(given)) {
    const fault = `keepAliveInterval must be a whole number of milliseconds, not "${given}"`
    throw new ConfigError('EVENTSTORE_URL', fault)
  }
  const interval = Number(given)
  options.set('keepAliveInterval', String(interval + (opened % 1_000)))
  if (!options.has('defaultDeadline')) options.set('defaultDeadline', String(ATTEMPT_WITHIN_MS))
  // The client decodes `+` as a space.
  return `${address.replace(/\/+$/, '')}?${String(options).replaceAll('+', '%20')}`
}
