import { useCallback, useSyncExternalStore } from 'react'

const lists = new Map<string, MediaQueryList>()

/** Returns a cached `MediaQueryList`, because every render reads it. */
function listOf(query: string): MediaQueryList {
  const known = lists.get(query) ?? window.matchMedia(query)
  lists.set(query, known)
  return known
}

export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const media = listOf(query)
      media.addEventListener('change', listener)
      return () => media.removeEventListener('change', listener)
    },
    [query],
  )
  return useSyncExternalStore(subscribe, () => listOf(query).matches)
}

/** True up to 600 px (phones), where lists become cards and the sidebar a drawer. */
export const useIsNarrow = (): boolean => useMedia('(max-width: 600px)')

/** True up to 900 px (tablets), which is too narrow for a wide sidebar beside a list. */
export const useIsMedium = (): boolean => useMedia('(max-width: 900px)')
