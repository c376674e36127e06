import type { IconName } from '../icons.tsx'

/**
 * One thing that can be done, named once: the palette, its shortcut and the sheet of shortcuts all
 * come from here. Of two with one id, the one registered last (the page's own) counts.
 */
export type Command = {
  readonly id: string
  readonly title: string
  /** Other words that the palette finds it by. */
  readonly keywords?: string
  readonly section: 'page' | 'go' | 'action'
  /** One key as `KeyboardEvent.key` has it, or two in a row: `?`, `r`, `g d`. */
  readonly keys?: string
  readonly icon?: IconName
  /** Left out for keys that a part of the page handles itself: those stand in the sheet alone. */
  readonly act?: () => void
  /** Only a key: nothing to choose from the palette. */
  readonly isKeyOnly?: boolean
}

type Source = { readonly current: readonly Command[] }

const sources = new Set<Source>()

export function registerCommands(source: Source): () => void {
  sources.add(source)
  return () => sources.delete(source)
}

/** Everything that can be done on the screen as it is now: the page's own first. */
export function currentCommands(): readonly Command[] {
  const byId = new Map<string, Command>()
  for (const source of sources) {
    for (const command of source.current) byId.set(command.id, command)
  }
  const order = { page: 0, action: 1, go: 2 }
  return [...byId.values()].sort((a, b) => order[a.section] - order[b.section])
}

/** Words of the query that all occur in the title, in any order: what the palette lists. */
export function matches(title: string, query: string): boolean {
  const text = title.toLowerCase()
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}
