import {
  type QueryClient,
  QueryObserver,
  queryOptions,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import type { Status } from '#read-api/contract/status.ts'
import { call } from './client.ts'

type Chat = Readonly<Record<string, string>>

/**
 * The chat clients that this browser stored at the last visit, or null if the stored text is
 * malformed. They are read when this module loads, because `cacheStatus` overwrites them.
 */
const stored = readChats(localStorage.getItem('chats'))
let areChatsBroken = stored === null

function readChats(text: string | null): readonly Chat[] | null {
  if (text === null) return []
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value.filter(isChat) : null
  } catch {
    return null
  }
}

function isChat(value: unknown): value is Chat {
  const isObject = typeof value === 'object' && value !== null
  return isObject && Object.values(value).every((link) => typeof link === 'string')
}

export const storedChats = (): readonly Chat[] => stored ?? []

/**
 * Reports whether the stored chat clients were malformed. Only the first call returns true, so that
 * the console tells the user only once.
 */
export function takeChatsError(): boolean {
  const wereChatsBroken = areChatsBroken
  areChatsBroken = false
  return wereChatsBroken
}

const KEY = 'status'

/**
 * Stores the status of the site in this browser for the next visit. Some values are also stored
 * under separate keys, because some screens read only one value.
 */
function cacheStatus(status: Status): void {
  localStorage.setItem(KEY, JSON.stringify(status))
  localStorage.setItem('footer_html', status.footer_html)
  localStorage.setItem('enable_data_export', String(status.enable_data_export))
  localStorage.setItem('enable_drawing', String(status.enable_drawing))
  localStorage.setItem('enable_task', String(status.enable_task))
  localStorage.setItem('chats', JSON.stringify(status.chats))
}

export function cachedStatus(): Status | undefined {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? 'null')
    return typeof value === 'object' && value !== null ? (value as Status) : undefined
  } catch {
    return undefined
  }
}

const POLL_INTERVAL_MS = 5 * 60_000
/**
 * The time limit (ms) for requesting the status. The console shows nothing until the request has
 * ended, unless this browser has stored that the setup is complete.
 */
const REQUEST_TIMEOUT_MS = 10_000

export const statusQuery = queryOptions({
  queryKey: ['status'],
  queryFn: async ({ signal }) => {
    const signalWithTimeout = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)])
    const data = await call('GET /api/status', { signal: signalWithTimeout })
    cacheStatus(data)
    return data
  },
  staleTime: POLL_INTERVAL_MS,
})

/**
 * Returns the status of the site. Until the status has loaded, returns the status that was stored
 * at the last visit, or undefined if none is stored.
 */
export function useStatus(): Status | undefined {
  const placeholder = cachedStatus()
  return useQuery(
    placeholder === undefined ? statusQuery : { ...statusQuery, placeholderData: placeholder },
  ).data
}

/** Returns the public address of the site, without a final slash. */
export const useSiteAddress = (): string =>
  (useStatus()?.server_address || window.location.origin).replace(/\/+$/, '')

type Watch = {
  readonly subscribe: (changed: () => void) => () => void
  readonly read: () => Status | undefined
}

const watches = new WeakMap<QueryClient, Watch>()

/**
 * Returns the status of the site, for cells of a list. All cells share one query observer, because
 * one observer per cell would make the list slow.
 */
export function useSharedStatus(): Status | undefined {
  const client = useQueryClient()
  const { subscribe, read } = watchOf(client)
  return useSyncExternalStore(subscribe, read)
}

function watchOf(client: QueryClient): Watch {
  const cached = watches.get(client)
  if (cached !== undefined) return cached
  const before = cachedStatus()
  const listeners = new Set<() => void>()
  const observer = new QueryObserver(client, statusQuery)
  let stop = (): void => {}
  const made: Watch = {
    subscribe: (changed) => {
      listeners.add(changed)
      if (listeners.size === 1) {
        stop = observer.subscribe(() => {
          for (const listener of listeners) listener()
        })
      }
      return () => {
        listeners.delete(changed)
        if (listeners.size === 0) stop()
      }
    },
    read: () => client.getQueryData(statusQuery.queryKey) ?? before,
  }
  watches.set(client, made)
  return made
}
