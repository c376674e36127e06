/**
 * Where a form leads once it is closed, by the state of its address: a path of this console; null
 * for the list that the form belongs to.
 */
export function returnToOf(state: unknown): string | null {
  if (typeof state !== 'object' || state === null || !('returnTo' in state)) return null
  const { returnTo } = state
  return typeof returnTo === 'string' && /^\/(?!\/)/.test(returnTo) ? returnTo : null
}
