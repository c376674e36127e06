import { useCallback, useSyncExternalStore } from 'react'

export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const media = window.matchMedia(query)
      media.addEventListener('change', listener)
      return () => media.removeEventListener('change', listener)
    },
    [query],
  )
  return useSyncExternalStore(subscribe, () => window.matchMedia(query).matches)
}

/** Phones: up to 600 px, lists become cards and the sidebar a drawer. */
export const useIsNarrow = (): boolean => useMedia('(max-width: 600px)')

/** Tablets and below: no room for a wide sidebar beside a list. */
export const useIsMedium = (): boolean => useMedia('(max-width: 900px)')
