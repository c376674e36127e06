import { useMedia } from '#console/ui/state/use-media.ts'

/**
 * True on phones and in narrow windows, where controls above the list fold so that calls are
 * visible.
 */
export const useIsTight = (): boolean => useMedia('(max-width: 899.98px)')
