import type { ShortLived } from './short-lived-values.ts'

const VALUES_MAX = 50_000

type Entry = { readonly value: string; readonly until: number; tries: number }

/**
 * Creates a store in the memory of this process with a limited number of values. `now` is in
 * milliseconds of a monotonic clock.
 */
export function createMemoryShortLived(now: () => number): ShortLived {
  const all = new Map<string, Entry>()
  const nameOf = (kind: string, key: string): string => `${kind}\n${key}`
  const find = (name: string): Entry | null => {
    const entry = all.get(name)
    if (entry !== undefined && entry.until > now()) return entry
    all.delete(name)
    return null
  }
  return {
    put: async (kind, key, value, ttlMs) => {
      const name = nameOf(kind, key)
      all.delete(name)
      if (all.size >= VALUES_MAX) dropOldest(all)
      all.set(name, { value, until: now() + ttlMs, tries: 0 })
    },
    take: async (kind, key) => {
      const name = nameOf(kind, key)
      const entry = find(name)
      all.delete(name)
      return entry?.value ?? null
    },
    peek: async (kind, key) => find(nameOf(kind, key))?.value ?? null,
    countTry: async (kind, key, max) => {
      const name = nameOf(kind, key)
      const entry = find(name)
      if (entry === null) return null
      entry.tries += 1
      if (entry.tries <= max) return max - entry.tries
      all.delete(name)
      return null
    },
  }
}

function dropOldest(all: Map<string, Entry>): void {
  const [oldest] = all.keys()
  if (oldest !== undefined) all.delete(oldest)
}
