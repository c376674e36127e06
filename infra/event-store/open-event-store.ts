import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { ConfigError } from '../config/config-types.ts'
import { createPostgresLocks } from './eventstoredb/locks.ts'
import { type EventStore, StoreUnavailable } from './port.ts'
import { createPostgresEventStore } from './postgres-event-store.ts'
import { eventStoreName, settleStoreIdentity } from './store-identity.ts'

type Options = {
  /** The address of EventStoreDB; null selects the Postgres at `database`. */
  readonly url: string | null
  readonly database: string
  readonly pg: Pool
  readonly log: Logger
}

/**
 * Opens the event store. Throws `ConfigError` if the database belongs to another event store, or if
 * EventStoreDB does not answer.
 */
export async function openEventStore({ url, database, pg, log }: Options): Promise<EventStore> {
  const name = eventStoreName(url)
  const store =
    url === null
      ? await createPostgresEventStore({ connectionString: database, log })
      : await openEventStoreDb(url, await createPostgresLocks(database, name), log)
  try {
    return await settleStoreIdentity({ pg, store, name })
  } catch (error) {
    await store.close()
    throw error
  }
}

async function openEventStoreDb(
  url: string,
  locks: Awaited<ReturnType<typeof createPostgresLocks>>,
  log: Logger,
): Promise<EventStore> {
  // The client is imported only when it is needed, because loading it is slow.
  const { createEventStoreDbStore } = await import('./eventstoredb/eventstoredb-store.ts')
  try {
    return await createEventStoreDbStore({ url, locks, log })
  } catch (error) {
    await locks.close()
    if (!(error instanceof StoreUnavailable)) throw error
    throw new ConfigError('EVENTSTORE_URL', 'names a server that does not answer')
  }
}
