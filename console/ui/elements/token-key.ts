/**
 * Returns the key of a token in the form that client programs send, which begins with `sk-`. The
 * server stores the key without this prefix.
 */
export const fullKey = (key: string): string => (key.startsWith('sk-') ? key : `sk-${key}`)

export function maskedKey(key: string): string {
  const full = fullKey(key)
  return full.length < 12 ? 'sk-…' : `${full.slice(0, 5)}…${full.slice(-4)}`
}
