import { useEffect, useRef } from 'react'
import type { IconName } from '../elements/icons.tsx'
import { readFlag, useLocalPreference } from '../state/use-local-preference.ts'

/**
 * An action that a user can perform. The console can offer an action in menus, in rows, as a
 * shortcut and in the command palette.
 */
export type Action = {
  readonly title: string
  readonly icon?: IconName
  readonly tone?: 'normal' | 'danger'
  /**
   * Whether the value that this action selects (such as a theme) is the selected one. Undefined for
   * an action that does not select a value.
   */
  readonly isSelected?: boolean
  /** The language of the title, if it differs from the language of the page. */
  readonly lang?: string
  /**
   * True for an action that is shown in tables but not on cards, because cards have another button
   * for the same action.
   */
  readonly isOnTable?: boolean
  readonly perform: () => void
}

/**
 * An action that shortcuts and the command palette offer. If several actions are registered with
 * the same id, the last one applies.
 */
export type RegisteredAction = Omit<Action, 'perform'> & {
  readonly id: string
  readonly keywords?: string
  readonly section: 'page' | 'go' | 'action'
  /**
   * The shortcut: a `KeyboardEvent.key` such as `?` or `r`, or a sequence of two keys such as `g
   * d`.
   */
  readonly keys?: string
  /**
   * Performs the action. Undefined if the page handles the keys itself. In this case, the action is
   * only listed.
   */
  readonly perform?: () => void
  /**
   * True for an action that is listed only in the sheet of shortcuts and not in the command
   * palette.
   */
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

/**
 * Registers actions while the component is mounted. An action without a section is in the section
 * `page`.
 */
export function useRegisterActions(pageActions: readonly PageAction[]): void {
  const actions = pageActions.map((action) => ({ section: 'page' as const, ...action }))
  const latest = useRef(actions)
  useEffect(() => {
    latest.current = actions
  })
  useEffect(() => register(latest), [])
}

const KEY = 'single-keys'

/**
 * Returns whether shortcuts of a single letter are enabled, and a function that enables or disables
 * them. Users must be able to disable such shortcuts (WCAG 2.1.4).
 */
export const useSingleKeys = (): [boolean, (isOn: boolean) => void] =>
  useLocalPreference(KEY, true, readFlag)

export const areSingleKeysOn = (): boolean => localStorage.getItem(KEY) !== 'false'
