import { useEffect, useEffectEvent, useRef } from 'react'
import { areSingleKeysOn, type RegisteredAction, registeredActions } from './action-registry.ts'

/** The maximum time (ms) between the two keys of a shortcut. */
const SEQUENCE_MS = 1_500

type Pressed = { readonly action: RegisteredAction | null; readonly pending: string }

/**
 * Finds the action for a pressed key. `pending` is the first key of a two-key shortcut, or an empty
 * text. If `key` does not complete this shortcut, `key` may start another one.
 */
function press(actions: readonly RegisteredAction[], pending: string, key: string): Pressed {
  const action = find(actions, pending === '' ? key : `${pending} ${key}`)
  if (action !== null) return { action, pending: '' }
  if (pending !== '') return press(actions, '', key)
  const begins = actions.some(({ keys }) => keys?.startsWith(`${key} `) === true)
  return { action: null, pending: begins ? key : '' }
}

/**
 * Reports whether a pressed key is meant for the focused element, such as a text field or a menu,
 * or for an open dialog. Such a key must not perform an action.
 */
function isMeantForTarget(target: EventTarget | null): boolean {
  if (document.querySelector('[aria-modal="true"]') !== null) return true
  if (!(target instanceof Element)) return false
  const field = target.closest('input, select, textarea, [contenteditable=""], [role="menu"]')
  const takesNoText =
    field instanceof HTMLInputElement && /^(checkbox|radio|button)$/.test(field.type)
  return (field !== null && !takesNoText) || target.closest('[role="dialog"]') !== null
}

const find = (actions: readonly RegisteredAction[], keys: string): RegisteredAction | null =>
  actions.find((action) => action.keys === keys && action.perform !== undefined) ?? null

/**
 * Performs the actions whose shortcuts the user presses. While the command palette or the sheet of
 * shortcuts is open, only ⌘K (Ctrl-K) works.
 */
export function useActionKeys(onPalette: () => void, isDialogOpen: boolean): void {
  const pending = useRef({ key: '', at: 0 })
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (isPaletteKey(event)) {
      event.preventDefault()
      onPalette()
      return
    }
    const isOthers = isDialogOpen || event.defaultPrevented || event.isComposing || event.repeat
    if (isOthers || event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'Shift' || !areSingleKeysOn() || isMeantForTarget(event.target)) return
    const first = event.timeStamp - pending.current.at < SEQUENCE_MS ? pending.current.key : ''
    const pressed = press(registeredActions(), first, event.key)
    pending.current = { key: pressed.pending, at: event.timeStamp }
    if (pressed.action === null) return
    event.preventDefault()
    pressed.action.perform?.()
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent) => onKey(event)
    window.addEventListener('keydown', listen)
    return () => window.removeEventListener('keydown', listen)
  }, [])
}

const isPaletteKey = (event: KeyboardEvent): boolean =>
  (event.metaKey || event.ctrlKey) && !event.altKey && event.key.toLowerCase() === 'k'
