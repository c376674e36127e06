import { useSyncExternalStore } from 'react'

/**
 * Creates a store for one value. Any function can read and set the value. Components that use the
 * value are rendered again when the value changes.
 */
export function createStore<Value>(initial: Value) {
  let value = initial
  const listeners = new Set<() => void>()
  const get = (): Value => value
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  const set = (next: Value): void => {
    value = next
    for (const listener of listeners) listener()
  }
  return { get, set, useValue: () => useSyncExternalStore(subscribe, get) }
}
