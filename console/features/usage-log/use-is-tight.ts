import { useMedia } from '#console/ui/use-media.ts'

/** Phones and narrow windows: what stands above the list folds, so that calls are in sight. */
export const useIsTight = (): boolean => useMedia('(max-width: 899.98px)')
