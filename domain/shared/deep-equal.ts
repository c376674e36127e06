/** Reports whether two JSON-like values without cycles are equal, in any order of keys. */
export function isSame(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true
  if (typeof left !== 'object' || typeof right !== 'object') return false
  if (left === null || right === null || Array.isArray(left) !== Array.isArray(right)) return false
  const entries = Object.entries(left)
  if (entries.length !== Object.keys(right).length) return false
  const others = new Map<string, unknown>(Object.entries(right))
  return entries.every(([key, value]) => others.has(key) && isSame(value, others.get(key)))
}
