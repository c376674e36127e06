import type { IconName } from '../elements/icons.tsx'

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
