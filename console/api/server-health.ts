import { ApiError } from './api-error.ts'

/**
 * The state of the server according to its last response. `until` is the earliest time to retry, as
 * a time of `performance.now()`, or null if the server did not name a time.
 */
type ServerHealth =
  | { readonly kind: 'fine' }
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'busy'; readonly until: number | null }
  | { readonly kind: 'down' }

const FINE: ServerHealth = { kind: 'fine' }
let health: ServerHealth = FINE
const listeners = new Set<() => void>()

export const currentServerHealth = (): ServerHealth => health

export function onServerHealthChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function recordResponse(status: number, retryAfterMs: number | null): void {
  const next = healthOf(status, retryAfterMs)
  if (next.kind === 'fine' && health.kind === 'fine') return
  health = next
  for (const listener of listeners) listener()
}

export const isServerUnavailable = (error: Error): boolean =>
  error instanceof ApiError && healthOf(error.status, null).kind !== 'fine'

function healthOf(status: number, retryAfterMs: number | null): ServerHealth {
  if (status === 0) return { kind: 'unreachable' }
  if (status === 429) {
    return { kind: 'busy', until: retryAfterMs === null ? null : performance.now() + retryAfterMs }
  }
  return status >= 502 && status <= 504 ? { kind: 'down' } : FINE
}
