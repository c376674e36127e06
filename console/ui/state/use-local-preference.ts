import { useCallback, useMemo, useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()

/**
 * Returns a value that is stored in this browser, and a function that sets it. `read` validates the
 * stored value. If `read` returns null, the value is `fallback`.
 */
export function useLocalPreference<Value>(
  key: string,
  fallback: Value,
  read: (stored: unknown) => Value | null,
): [Value, (value: Value) => void] {
  const text = useSyncExternalStore(subscribe, () => localStorage.getItem(key))
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text alone decides the value
  const value = useMemo(() => parse(text, read) ?? fallback, [text])
  const set = useCallback((next: Value) => storePreference(key, next), [key])
  return [value, set]
}

export function storePreference(key: string, value: unknown): void {
  localStorage.setItem(key, JSON.stringify(value))
  for (const listener of listeners) listener()
}

export function forgetPreference(key: string): void {
  localStorage.removeItem(key)
  for (const listener of listeners) listener()
}

export const readFlag = (stored: unknown): boolean | null =>
  typeof stored === 'boolean' ? stored : null

function parse<Value>(text: string | null, read: (stored: unknown) => Value | null): Value | null {
  if (text === null) return null
  try {
    return read(JSON.parse(text))
  } catch {
    return null
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  window.addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    window.removeEventListener('storage', listener)
  }
}
