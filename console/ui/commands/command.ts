import { useEffect, useRef } from 'react'
import type { IconName } from '../elements/icons.tsx'
import { readFlag, useLocalPreference } from '../state/use-local-preference.ts'

/** The last command registered under an id applies. */
export type Command = {
  readonly id: string
  readonly title: string
  readonly keywords?: string
  readonly section: 'page' | 'go' | 'action'
  /** A `KeyboardEvent.key` (`?`, `r`), or a sequence of two keys (`g d`). */
  readonly keys?: string
  readonly icon?: IconName
  /** Undefined for a listed command whose keys the page itself handles. */
  readonly perform?: () => void
  /** True for a command that only the sheet of shortcuts lists. */
  readonly isKeyOnly?: boolean
}

type Source = { readonly current: readonly Command[] }

const sources = new Set<Source>()

export function registerCommands(source: Source): () => void {
  sources.add(source)
  return () => sources.delete(source)
}

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

/** Registers commands while mounted. The default section is `page`. */
export function useCommands(pageCommands: readonly PageCommand[]): void {
  const commands = pageCommands.map((command) => ({ section: 'page' as const, ...command }))
  const latest = useRef(commands)
  useEffect(() => {
    latest.current = commands
  })
  useEffect(() => registerCommands(latest), [])
}

const KEY = 'single-keys'

/** Users can disable single-letter shortcuts (WCAG 2.1.4). */
export const useSingleKeys = (): [boolean, (isOn: boolean) => void] =>
  useLocalPreference(KEY, true, readFlag)

export const areSingleKeysOn = (): boolean => localStorage.getItem(KEY) !== 'false'
