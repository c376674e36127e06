import { useCallback, useSyncExternalStore } from 'react'

const lists = new Map<string, MediaQueryList>()

/** Cached, because every rendering reads the list. */
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

/** Phones: lists are cards, and the sidebar is a drawer. */
export const useIsNarrow = (): boolean => useMedia('(max-width: 600px)')

/** Tablets have no space for a wide sidebar and a list. */
export const useIsMedium = (): boolean => useMedia('(max-width: 900px)')
