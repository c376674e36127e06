import { useLocalPreference } from '../state/use-local-preference.ts'

export type Density = 'compact' | 'comfortable'

/** The height (px) of a row without expanded details. */
export const ROW_HEIGHT: Record<Density, number> = { compact: 34, comfortable: 44 }
export const CARD_HEIGHT = 148
export const HEADER_HEIGHT = 36

/**
 * Returns the row height that the user has chosen for all lists, and a function that sets it.
 * `fallback` applies until the user has chosen one.
 */
export function useDensity(
  fallback: Density = 'comfortable',
): [Density, (density: Density) => void] {
  return useLocalPreference<Density>('row-density', fallback, (stored) =>
    stored === 'compact' || stored === 'comfortable' ? stored : null,
  )
}
