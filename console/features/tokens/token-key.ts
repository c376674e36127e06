import { fullKey } from '#console/ui/elements/full-key.ts'

/** Masks the middle of a key. The user can recognize the key, but nobody can use it. */
export function maskedKey(key: string): string {
  const full = fullKey(key)
  return full.length < 12 ? 'sk-…' : `${full.slice(0, 5)}…${full.slice(-4)}`
}
