import { useMedia } from '#console/ui/state/use-media.ts'

/** True in windows below 900 px, where the controls above the list are collapsed. */
export const useIsTight = (): boolean => useMedia('(max-width: 899.98px)')
