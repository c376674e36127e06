import { ApiError } from './api-error.ts'

/**
 * The state of the server according to its last response. `until` is the earliest time to retry, on
 * the clock of `performance.now()` (ms), or null if the server did not name a time.
 */
type ServerAvailability =
  | { readonly kind: 'fine' }
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'busy'; readonly until: number | null }
  | { readonly kind: 'down' }

const FINE: ServerAvailability = { kind: 'fine' }
let availability: ServerAvailability = FINE
const listeners = new Set<() => void>()

export const currentServerAvailability = (): ServerAvailability => availability

export function onServerAvailabilityChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function recordResponse(status: number, retryAfterMs: number | null): void {
  const next = availabilityOf(status, retryAfterMs)
  if (next.kind === 'fine' && availability.kind === 'fine') return
  availability = next
  for (const listener of listeners) listener()
}

export const isServerUnavailable = (error: Error): boolean =>
  error instanceof ApiError && availabilityOf(error.status, null).kind !== 'fine'

function availabilityOf(status: number, retryAfterMs: number | null): ServerAvailability {
  if (status === 0) return { kind: 'unreachable' }
  if (status === 429) {
    return { kind: 'busy', until: retryAfterMs === null ? null : performance.now() + retryAfterMs }
  }
  return status >= 502 && status <= 504 ? { kind: 'down' } : FINE
}
