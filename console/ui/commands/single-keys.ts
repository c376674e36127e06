import { readFlag, useLocalPreference } from '../use-local-preference.ts'

const KEY = 'single-keys'

/** Whether letters alone do anything (WCAG 2.1.4): on until switched off, in this browser. */
export const useSingleKeys = (): [boolean, (isOn: boolean) => void] =>
  useLocalPreference(KEY, true, readFlag)

export const areSingleKeysOn = (): boolean => localStorage.getItem(KEY) !== 'false'
