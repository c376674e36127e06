import { fullKey } from '#console/ui/elements/full-key.ts'

/** Returns enough of a key to recognize it, but too little to use it. */
export function maskedKey(key: string): string {
  const full = fullKey(key)
  return full.length < 12 ? 'sk-…' : `${full.slice(0, 5)}…${full.slice(-4)}`
}
