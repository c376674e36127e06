import { useState } from 'react'
import { useLocation, useNavigate } from 'react-router-dom'
import { SETTLED } from './use-leave-guard.ts'

/** The path is in the router's state. Null means that the form's list opens. */
export function formReturnPath(state: unknown): string | null {
  if (typeof state !== 'object' || state === null || !('returnTo' in state)) return null
  const { returnTo } = state
  return typeof returnTo === 'string' && /^\/(?!\/)/.test(returnTo) ? returnTo : null
}

/** The router's state of a form that returns to a page, which then gets the state `returnState`. */
export type ReturnState = { readonly returnTo: string; readonly returnState?: object }

/** Returns the function that opens the page to return to, or null if the state has no such page. */
export function useReturn(): (() => void) | null {
  const navigate = useNavigate()
  const { state } = useLocation()
  // Keep the state of the opening, because a change of the URL, such as another tab, drops it.
  const [opened] = useState<unknown>(state)
  const returnTo = formReturnPath(opened)
  if (returnTo === null) return null
  const { returnState } = opened as ReturnState
  return () => void navigate(returnTo, { state: { ...returnState, ...SETTLED } })
}
