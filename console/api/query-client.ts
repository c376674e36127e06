import { QueryClient } from '@tanstack/react-query'
import { ApiError } from './api-error.ts'

const RETRIES_MAX = 2
const RETRY_DELAY_MAX_MS = 30_000

export function isWorthRetrying(failures: number, error: Error): boolean {
  if (failures >= RETRIES_MAX || !(error instanceof ApiError)) return false
  return error.status === 0 || error.status === 429 || error.status >= 502
}

export function retryDelayMs(failures: number, error: Error): number {
  const retryAfterMs = error instanceof ApiError ? error.retryAfterMs : null
  return Math.min(retryAfterMs ?? 1000 * 2 ** failures, RETRY_DELAY_MAX_MS)
}

/**
 * Creates the cache for data of the server. A query that fails shows no toast, because the screen
 * that uses it shows the error.
 */
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
