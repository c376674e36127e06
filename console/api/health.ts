import { ApiError } from './api-error.ts'

/**
 * How calls have been going lately. `unreachable`: no answer came; `busy`: the server asked to
 * wait, until a moment of `performance.now()` where it named one; `down`: it can't serve now.
 */
export type Health =
  | { readonly kind: 'fine' }
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'busy'; readonly until: number | null }
  | { readonly kind: 'down' }

const FINE: Health = { kind: 'fine' }
let health: Health = FINE
const listeners = new Set<() => void>()

export const currentHealth = (): Health => health

export function onHealth(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Notes how a call went; any answer that isn't one of these troubles ends them. */
export function noteAnswer(status: number, retryAfterMs: number | null): void {
  const next = healthOf(status, retryAfterMs)
  if (next.kind === 'fine' && health.kind === 'fine') return
  health = next
  for (const listener of listeners) listener()
}

/** Whether a call failed because the product could not answer, and not by what it answered. */
export const isUnanswered = (error: Error): boolean =>
  error instanceof ApiError && healthOf(error.status, null).kind !== 'fine'

function healthOf(status: number, retryAfterMs: number | null): Health {
  if (status === 0) return { kind: 'unreachable' }
  if (status === 429) {
    return { kind: 'busy', until: retryAfterMs === null ? null : performance.now() + retryAfterMs }
  }
  return status >= 502 && status <= 504 ? { kind: 'down' } : FINE
}
