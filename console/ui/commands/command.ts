import { useEffect, useRef } from 'react'
import type { IconName } from '../elements/icons.tsx'
import { readFlag, useLocalPreference } from '../state/use-local-preference.ts'

/**
 * An action with a shortcut, listed in the palette and in the sheet of shortcuts. Of commands with
 * the same id, the last registered (usually the page's) applies.
 */
export type Command = {
  readonly id: string
  readonly title: string
  /** Further words by which the palette finds the command. */
  readonly keywords?: string
  readonly section: 'page' | 'go' | 'action'
  /** One `KeyboardEvent.key` (`?`, `r`) or a sequence of two keys (`g d`). */
  readonly keys?: string
  readonly icon?: IconName
  /** Runs the action. Missing for keys that the page handles itself, which are only listed. */
  readonly act?: () => void
  /** True to list the command only in the sheet of shortcuts, not in the palette. */
  readonly isKeyOnly?: boolean
}

type Source = { readonly current: readonly Command[] }

const sources = new Set<Source>()

export function registerCommands(source: Source): () => void {
  sources.add(source)
  return () => sources.delete(source)
}

/** Returns the commands of the current screen. Commands of the page come first. */
export function currentCommands(): readonly Command[] {
  const byId = new Map<string, Command>()
  for (const source of sources) {
    for (const command of source.current) byId.set(command.id, command)
  }
  const order = { page: 0, action: 1, go: 2 }
  return [...byId.values()].sort((a, b) => order[a.section] - order[b.section])
}

export function matches(title: string, query: string): boolean {
  const text = title.toLowerCase()
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

type PageCommand = Omit<Command, 'section'> & Partial<Pick<Command, 'section'>>

/** Registers the component's commands while it is mounted; the default section is `page`. */
export function useCommands(given: readonly PageCommand[]): void {
  const commands = given.map((command) => ({ section: 'page' as const, ...command }))
  const latest = useRef(commands)
  useEffect(() => {
    latest.current = commands
  })
  useEffect(() => registerCommands(latest), [])
}

const KEY = 'single-keys'

/** The setting of single-letter shortcuts (WCAG 2.1.4). Stored per browser, on by default. */
export const useSingleKeys = (): [boolean, (isOn: boolean) => void] =>
  useLocalPreference(KEY, true, readFlag)

export const areSingleKeysOn = (): boolean => localStorage.getItem(KEY) !== 'false'
