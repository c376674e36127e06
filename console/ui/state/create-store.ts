import { useSyncExternalStore } from 'react'

/**
 * Creates a store for one value. Components subscribe to the value, and any function can set it.
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
