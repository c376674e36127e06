import type { IconName } from '../elements/icons.tsx'

/**
 * An action for the palette, its shortcut and the sheet of shortcuts. If two commands have the same
 * id, the one registered last (by the page) applies.
 */
export type Command = {
  readonly id: string
  readonly title: string
  /** Additional search words for the palette. */
  readonly keywords?: string
  readonly section: 'page' | 'go' | 'action'
  /** A single `KeyboardEvent.key`, or two keys in sequence: `?`, `r`, `g d`. */
  readonly keys?: string
  readonly icon?: IconName
  /** Absent for keys that the page handles itself; the sheet of shortcuts still lists them. */
  readonly act?: () => void
  /** Hides the command from the palette; only its shortcut works. */
  readonly isKeyOnly?: boolean
}

type Source = { readonly current: readonly Command[] }

const sources = new Set<Source>()

export function registerCommands(source: Source): () => void {
  sources.add(source)
  return () => sources.delete(source)
}

/** Returns every command of the current screen; the commands of the page come first. */
export function currentCommands(): readonly Command[] {
  const byId = new Map<string, Command>()
  for (const source of sources) {
    for (const command of source.current) byId.set(command.id, command)
  }
  const order = { page: 0, action: 1, go: 2 }
  return [...byId.values()].sort((a, b) => order[a.section] - order[b.section])
}

/** Returns true if the title contains all words of the query, in any order. */
export function matches(title: string, query: string): boolean {
  const text = title.toLowerCase()
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}
