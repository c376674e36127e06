/**
 * The path of this console to which a form returns when it closes, from the state of its address;
 * null for the list that the form belongs to.
 */
export function returnToOf(state: unknown): string | null {
  if (typeof state !== 'object' || state === null || !('returnTo' in state)) return null
  const { returnTo } = state
  return typeof returnTo === 'string' && /^\/(?!\/)/.test(returnTo) ? returnTo : null
}
