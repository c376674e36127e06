import { useCallback, useSyncExternalStore } from 'react'

const lists = new Map<string, MediaQueryList>()

/**
 * Returns the `MediaQueryList` for a query. The object is cached, because every rendering needs it.
 */
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

/**
 * Reports whether the window is at most 600 px wide (phones). Lists are then shown as cards, and
 * the sidebar is a drawer.
 */
export const useIsNarrow = (): boolean => useMedia('(max-width: 600px)')

/**
 * Reports whether the window is at most 900 px wide (tablets). A wide sidebar then does not fit
 * beside a list.
 */
export const useIsMedium = (): boolean => useMedia('(max-width: 900px)')
