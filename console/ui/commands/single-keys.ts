import { readFlag, useLocalPreference } from '../state/use-local-preference.ts'

const KEY = 'single-keys'

/** The setting of single-letter shortcuts (WCAG 2.1.4). Stored per browser, on by default. */
export const useSingleKeys = (): [boolean, (isOn: boolean) => void] =>
  useLocalPreference(KEY, true, readFlag)

export const areSingleKeysOn = (): boolean => localStorage.getItem(KEY) !== 'false'
