import { useCallback, useSyncExternalStore } from 'react'

const lists = new Map<string, MediaQueryList>()

/** Cached, because every rendering reads the `MediaQueryList`. */
function listOf(query: string): MediaQueryList {
  const mediaQuery = lists.get(query) ?? window.matchMedia(query)
  lists.set(query, mediaQuery)
  return mediaQuery
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

/** Up to 600 px (phones), lists are shown as cards, and the sidebar is a drawer. */
export const useIsNarrow = (): boolean => useMedia('(max-width: 600px)')

/** Up to 900 px (tablets), there is no space for a wide sidebar and a list. */
export const useIsMedium = (): boolean => useMedia('(max-width: 900px)')
