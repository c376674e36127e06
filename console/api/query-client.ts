import { QueryClient } from '@tanstack/react-query'
import { ApiError } from './api-error.ts'

const RETRIES_MAX = 2
const RETRY_DELAY_MS_MAX = 30_000

/** Whether asking again can help: no answer, overload and server faults; never a refusal. */
export function isWorthRetrying(failures: number, error: Error): boolean {
  if (failures >= RETRIES_MAX || !(error instanceof ApiError)) return false
  return error.status === 0 || error.status === 429 || error.status >= 502
}

/** Doubling from one second, or what the server's `Retry-After` asks for. */
export function retryDelayMs(failures: number, error: Error): number {
  const asked = error instanceof ApiError ? error.retryAfterMs : null
  return Math.min(asked ?? 1000 * 2 ** failures, RETRY_DELAY_MS_MAX)
}

/** The one cache of server state. Errors are shown by the screen that asked, not by toasts. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        refetchOnWindowFocus: true,
        retry: isWorthRetrying,
        retryDelay: retryDelayMs,
      },
      mutations: { retry: false },
    },
  })
}
