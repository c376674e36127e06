import type { Logger } from 'pino'
import { StoreUnavailable } from '#infra/event-store/port.ts'
import { isDatabaseAway } from '#infra/postgres/query-timeouts.ts'
import { warnThrottled } from '#infra/telemetry/log.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'

const NO_STORE = relayError('store_unavailable', { retryAfter: 5 })

/**
 * Reports whether an exception means that the database or the event store is unavailable. The API
 * caller can then repeat the request later. Exceptions of requests to providers can look the same,
 * so they must be handled before this check.
 */
export const isStoreUnavailable = (err: unknown): boolean =>
  err instanceof StoreUnavailable || isDatabaseAway(err)

/**
 * Returns the error for the API caller after an exception that nothing else has handled, and logs
 * the exception. Any exception other than an unavailable database is a bug. Its stack is logged but
 * not sent to the caller.
 */
export function errorOfException(log: Logger, call: string, err: unknown): RelayError {
  if (isStoreUnavailable(err)) {
    const reason = err instanceof Error ? err.message : String(err)
    warnThrottled(log, { reason, call }, 'requests fail because the database is unavailable')
    return NO_STORE
  }
  log.error({ err, call }, 'relay: a call failed')
  return relayError('internal_error')
}
