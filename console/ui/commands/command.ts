import { useEffect, useRef } from 'react'
import type { IconName } from '../elements/icons.tsx'
import { readFlag, useLocalPreference } from '../state/use-local-preference.ts'

/** If several commands have the same id, the last registered command applies. */
export type Command = {
  readonly id: string
  readonly title: string
  readonly keywords?: string
  readonly section: 'page' | 'go' | 'action'
  /** One `KeyboardEvent.key` (`?`, `r`), or a sequence of two keys (`g d`). */
  readonly keys?: string
  readonly icon?: IconName
  /** Undefined if the page itself handles the keys. The command is then only listed. */
  readonly perform?: () => void
  /** True if only the sheet of shortcuts lists the command, and not the palette. */
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

/** Registers commands while mounted. A command without a section belongs to the section `page`. */
export function useCommands(pageCommands: readonly PageCommand[]): void {
  const commands = pageCommands.map((command) => ({ section: 'page' as const, ...command }))
  const latest = useRef(commands)
  useEffect(() => {
    latest.current = commands
  })
  useEffect(() => registerCommands(latest), [])
}

const KEY = 'single-keys'

/** Users can disable shortcuts of a single letter (WCAG 2.1.4). */
export const useSingleKeys = (): [boolean, (isOn: boolean) => void] =>
  useLocalPreference(KEY, true, readFlag)

export const areSingleKeysOn = (): boolean => localStorage.getItem(KEY) !== 'false'
