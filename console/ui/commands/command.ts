import type { IconName } from '../elements/icons.tsx'

/**
 * An action with a title, defined once for the command palette, its shortcut and the sheet of
 * shortcuts. Of two commands with the same id, the one registered last (the page's own) applies.
 */
export type Command = {
  readonly id: string
  readonly title: string
  /** Further words by which the palette finds it. */
  readonly keywords?: string
  readonly section: 'page' | 'go' | 'action'
  /** One key as in `KeyboardEvent.key`, or two in sequence: `?`, `r`, `g d`. */
  readonly keys?: string
  readonly icon?: IconName
  /** Absent for keys that a part of the page handles itself; these appear in the sheet only. */
  readonly act?: () => void
  /** Has a shortcut only and is not listed in the palette. */
  readonly isKeyOnly?: boolean
}

type Source = { readonly current: readonly Command[] }

const sources = new Set<Source>()

export function registerCommands(source: Source): () => void {
  sources.add(source)
  return () => sources.delete(source)
}

/** Every command available on the present screen, the page's own first. */
export function currentCommands(): readonly Command[] {
  const byId = new Map<string, Command>()
  for (const source of sources) {
    for (const command of source.current) byId.set(command.id, command)
  }
  const order = { page: 0, action: 1, go: 2 }
  return [...byId.values()].sort((a, b) => order[a.section] - order[b.section])
}

/** Whether all words of the query occur in the title, in any order, as the palette requires. */
export function matches(title: string, query: string): boolean {
  const text = title.toLowerCase()
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}
