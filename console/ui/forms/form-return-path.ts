import { useState } from 'react'
import { useLocation, useNavigate } from 'react-router-dom'
import { LEAVE_CONFIRMED } from './use-leave-guard.ts'

/**
 * Returns the path to which a form returns, which is in the router's state. Null means that the
 * form returns to its list.
 */
export function formReturnPath(state: unknown): string | null {
  if (typeof state !== 'object' || state === null || !('returnTo' in state)) return null
  const { returnTo } = state
  return typeof returnTo === 'string' && /^\/(?!\/)/.test(returnTo) ? returnTo : null
}

/**
 * The router's state of a form that returns to a page. This page then receives the state
 * `returnState`.
 */
export type ReturnState = { readonly returnTo: string; readonly returnState?: object }

/**
 * Returns a function that opens the page to which the form returns. Returns null if the router's
 * state contains no such page.
 */
export function useReturnToPage(): (() => void) | null {
  const navigate = useNavigate()
  const { state } = useLocation()
  // The state at the opening is kept, because a change of the URL (such as opening another tab of
  // the page) drops the router's state.
  const [opened] = useState<unknown>(state)
  const returnTo = formReturnPath(opened)
  if (returnTo === null) return null
  const { returnState } = opened as ReturnState
  return () => void navigate(returnTo, { state: { ...returnState, ...LEAVE_CONFIRMED } })
}
