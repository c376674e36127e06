import { fullKey } from '#console/ui/elements/full-key.ts'

/** Enough to distinguish keys, not enough to use one. */
export function maskedKey(key: string): string {
  const full = fullKey(key)
  return full.length < 12 ? 'sk-…' : `${full.slice(0, 5)}…${full.slice(-4)}`
}
