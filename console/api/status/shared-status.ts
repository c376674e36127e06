import { type QueryClient, QueryObserver, useQueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import type { Status } from '#read-api/contract/status.ts'
import { statusQuery } from './status.ts'
import { cachedStatus } from './status-cache.ts'

type Watch = {
  readonly subscribe: (changed: () => void) => () => void
  readonly read: () => Status | undefined
}

const watches = new WeakMap<QueryClient, Watch>()

/**
 * What `useStatus` answers, for cells of lists: one observer for all of them, where a query each
 * would be the dearest thing about a row.
 */
export function useSharedStatus(): Status | undefined {
  const client = useQueryClient()
  const { subscribe, read } = watchOf(client)
  return useSyncExternalStore(subscribe, read)
}

function watchOf(client: QueryClient): Watch {
  const known = watches.get(client)
  if (known !== undefined) return known
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
