import { useMedia } from '#console/ui/state/use-media.ts'

/** True on phones and in narrow windows, where the controls above the list are collapsed. */
export const useIsTight = (): boolean => useMedia('(max-width: 899.98px)')
