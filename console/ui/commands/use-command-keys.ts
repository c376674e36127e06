import { useEffect, useEffectEvent, useRef } from 'react'
import { currentCommands } from './command.ts'
import { isMeantForTarget, press, SEQUENCE_MS } from './key-sequence.ts'
import { areSingleKeysOn } from './single-keys.ts'

/**
 * Listens for the keys of every command, and for ⌘K or Ctrl-K; used once, by the shell. `isAsked`:
 * a dialog of the shell's is open or on its way, so that letters are meant for it.
 */
export function useCommandKeys(onPalette: () => void, isAsked: boolean): void {
  const pending = useRef({ key: '', at: 0 })
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (isPaletteKey(event)) {
      event.preventDefault()
      onPalette()
      return
    }
    const isOthers = isAsked || event.defaultPrevented || event.isComposing || event.repeat
    if (isOthers || event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'Shift' || !areSingleKeysOn() || isMeantForTarget(event.target)) return
    const first = event.timeStamp - pending.current.at < SEQUENCE_MS ? pending.current.key : ''
    const pressed = press(currentCommands(), first, event.key)
    pending.current = { key: pressed.pending, at: event.timeStamp }
    if (pressed.command === null) return
    event.preventDefault()
    pressed.command.act?.()
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent) => onKey(event)
    window.addEventListener('keydown', listen)
    return () => window.removeEventListener('keydown', listen)
  }, [])
}

const isPaletteKey = (event: KeyboardEvent): boolean =>
  (event.metaKey || event.ctrlKey) && !event.altKey && event.key.toLowerCase() === 'k'
