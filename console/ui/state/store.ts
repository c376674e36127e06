import { useSyncExternalStore } from 'react'

/** Creates a value that components can read and that functions outside of components can set. */
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
