import { useCallback, useSyncExternalStore } from 'react'

const lists = new Map<string, MediaQueryList>()

/**
 * Returns the `MediaQueryList` for a query. It is cached, because it is needed in every rendering.
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
 * Returns true up to a width of 600 px (phones). Lists are cards then, and the sidebar is a drawer.
 */
export const useIsNarrow = (): boolean => useMedia('(max-width: 600px)')

/**
 * Returns true up to a width of 900 px (tablets). A wide sidebar does not fit beside a list then.
 */
export const useIsMedium = (): boolean => useMedia('(max-width: 900px)')
