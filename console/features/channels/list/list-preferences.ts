import { readFlag, useLocalPreference } from '#console/ui/use-local-preference.ts'

/** Channels gathered under their tags. */
export const useTagMode = (): [boolean, (isOn: boolean) => void] =>
  useLocalPreference('enable-tag-mode', false, readFlag)

/** The newest channel first, instead of the highest priority. */
export const useIdSort = (): [boolean, (isOn: boolean) => void] =>
  useLocalPreference('id-sort', false, readFlag)
