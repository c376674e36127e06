/** Reads from the router's state the path that a closing form opens. Null means the form's list. */
export function returnToOf(state: unknown): string | null {
  if (typeof state !== 'object' || state === null || !('returnTo' in state)) return null
  const { returnTo } = state
  return typeof returnTo === 'string' && /^\/(?!\/)/.test(returnTo) ? returnTo : null
}
