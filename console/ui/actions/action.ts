import { useEffect, useRef } from 'react'
import type { IconName } from '../elements/icons.tsx'
import { readFlag, useLocalPreference } from '../state/use-local-preference.ts'

/** A user action that menus, rows, shortcuts and the palette show. */
export type Action = {
  readonly title: string
  readonly icon?: IconName
  readonly tone?: 'normal' | 'danger'
  /**
   * Whether the action's value is the current one. Undefined unless the action selects one of
   * several values.
   */
  readonly isSelected?: boolean
  /** The language of the title, if the page has another language. */
  readonly lang?: string
  /** True for an action that cards do not list, because they have a separate button for it. */
  readonly isOnTable?: boolean
  readonly perform: () => void
}

/** An action for shortcuts and the palette. A later action replaces one with the same id. */
export type RegisteredAction = Omit<Action, 'perform'> & {
  readonly id: string
  readonly keywords?: string
  readonly section: 'page' | 'go' | 'action'
  /** A `KeyboardEvent.key` (`?`, `r`), or a sequence of two keys (`g d`). */
  readonly keys?: string
  /** Undefined if the page itself handles the keys. The action is then only listed. */
  readonly perform?: () => void
  /** True for an action that only the sheet of shortcuts lists. */
  readonly isKeyOnly?: boolean
}

type Source = { readonly current: readonly RegisteredAction[] }

const sources = new Set<Source>()

function register(source: Source): () => void {
  sources.add(source)
  return () => sources.delete(source)
}

export function registeredActions(): readonly RegisteredAction[] {
  const byId = new Map<string, RegisteredAction>()
  for (const source of sources) {
    for (const action of source.current) byId.set(action.id, action)
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

type PageAction = Omit<RegisteredAction, 'section'> & Partial<Pick<RegisteredAction, 'section'>>

/** Registers actions while mounted. The default section is `page`. */
export function useRegisterActions(pageActions: readonly PageAction[]): void {
  const actions = pageActions.map((action) => ({ section: 'page' as const, ...action }))
  const latest = useRef(actions)
  useEffect(() => {
    latest.current = actions
  })
  useEffect(() => register(latest), [])
}

const KEY = 'single-keys'

/** Users can disable single-letter shortcuts (WCAG 2.1.4). */
export const useSingleKeys = (): [boolean, (isOn: boolean) => void] =>
  useLocalPreference(KEY, true, readFlag)

export const areSingleKeysOn = (): boolean => localStorage.getItem(KEY) !== 'false'
