export type GridAction = { move: number } | 'open' | 'expand' | 'select' | 'collapse' | null

/**
 * Returns the action for a key that is pressed in a list, or null if the key has no action.
 * `active` is the index of the row to which keys apply, or -1 if there is none.
 */
export function gridActionOf(
  key: string,
  active: number,
  count: number,
  pageRows: number,
): GridAction {
  if (count === 0) return null
  const target = targetOf(key, active, count, pageRows)
  if (target !== null) return { move: Math.min(count - 1, Math.max(0, target)) }
  if (active < 0) return null
  return ACTIONS_BY_KEY[key] ?? null
}

const ACTIONS_BY_KEY: Readonly<Record<string, GridAction>> = {
  Enter: 'open',
  ' ': 'expand',
  ArrowRight: 'expand',
  ArrowLeft: 'collapse',
  x: 'select',
}

function targetOf(key: string, active: number, count: number, pageRows: number): number | null {
  switch (key) {
    case 'ArrowDown':
    case 'j':
      return active + 1
    case 'ArrowUp':
    case 'k':
      return active < 0 ? 0 : active - 1
    case 'PageDown':
      return active + pageRows
    case 'PageUp':
      return active - pageRows
    case 'Home':
      return 0
    case 'End':
      return count - 1
    default:
      return null
  }
}

/**
 * Reports whether the target of an event in a row is a control, such as a button, which handles the
 * event itself.
 */
export function isOnControl(target: EventTarget): boolean {
  return (
    target instanceof Element &&
    target.closest('button, a, input, select, textarea, label, [role="separator"]') !== null
  )
}
