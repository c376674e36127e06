import { useState } from 'react'
import { useLocation, useNavigate } from 'react-router-dom'
import { LEAVE_CONFIRMED } from './use-leave-guard.ts'

/**
 * Returns the path to open when a form closes, or null to open the list to which the form belongs.
 * The path is in the router state of the link that opened the form.
 */
export function formReturnPath(state: unknown): string | null {
  if (typeof state !== 'object' || state === null || !('returnTo' in state)) return null
  const { returnTo } = state
  return typeof returnTo === 'string' && /^\/(?!\/)/.test(returnTo) ? returnTo : null
}

/**
 * The router state of a link to a form. When the form closes, the console opens the path `returnTo`
 * with the router state `returnState`.
 */
export type ReturnState = { readonly returnTo: string; readonly returnState?: object }

/**
 * Returns a function that opens the page from which the form was opened. Returns null if the form
 * was opened from its list.
 */
export function useReturnToPage(): (() => void) | null {
  const navigate = useNavigate()
  const { state } = useLocation()
  // The router state is kept, because it is lost when the URL changes.
  const [opened] = useState<unknown>(state)
  const returnTo = formReturnPath(opened)
  if (returnTo === null) return null
  const { returnState } = opened as ReturnState
  return () => void navigate(returnTo, { state: { ...returnState, ...LEAVE_CONFIRMED } })
}
