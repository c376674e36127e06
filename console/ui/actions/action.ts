import { useEffect, useRef } from 'react'
import type { IconName } from '../elements/icons.tsx'
import { readFlag, useLocalPreference } from '../state/use-local-preference.ts'

/** A user action that menus, rows, shortcuts and the palette show. */
export type Action = {
  readonly title: string
  readonly icon?: IconName
  readonly tone?: 'normal' | 'danger'
  /**
   * Whether the value that the action selects is the current one. It is undefined for an action
   * that selects no value.
   */
  readonly isSelected?: boolean
  /** The language of the title, if it differs from the language of the page. */
  readonly lang?: string
  /** True for an action that is not listed on cards, because a card has a button for it. */
  readonly isOnTable?: boolean
  readonly perform: () => void
}

/**
 * An action that shortcuts and the palette offer. If several are registered under one id, the last
 * one applies.
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
   * Performs the action. It is undefined if the page handles the keys itself: the action is then
   * only listed.
   */
  readonly perform?: () => void
  /** True for an action that is listed only on the sheet of shortcuts, and not in the palette. */
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

/** Registers actions while the component is mounted. By default, they are in the section `page`. */
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
 * Whether shortcuts of a single letter are enabled. Users must be able to disable them (WCAG
 * 2.1.4).
 */
export const useSingleKeys = (): [boolean, (isOn: boolean) => void] =>
  useLocalPreference(KEY, true, readFlag)

export const areSingleKeysOn = (): boolean => localStorage.getItem(KEY) !== 'false'
