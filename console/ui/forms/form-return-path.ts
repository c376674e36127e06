import { useState } from 'react'
import { useLocation, useNavigate } from 'react-router-dom'
import { SETTLED } from './use-leave-guard.ts'

/** The path is in the router's state. Null means that the form's list opens. */
export function returnToOf(state: unknown): string | null {
  if (typeof state !== 'object' || state === null || !('returnTo' in state)) return null
  const { returnTo } = state
  return typeof returnTo === 'string' && /^\/(?!\/)/.test(returnTo) ? returnTo : null
}

/** The page to which the form returns gets the state `returnState`. */
export type ReturnState = { readonly returnTo: string; readonly returnState?: object }

/** Null if the state has no page to return to. */
export function useReturn(): (() => void) | null {
  const navigate = useNavigate()
  const { state } = useLocation()
  // A change of the URL, such as another tab, drops the state.
  const [opened] = useState<unknown>(state)
  const returnTo = returnToOf(opened)
  if (returnTo === null) return null
  const { returnState } = opened as ReturnState
  return () => void navigate(returnTo, { state: { ...returnState, ...SETTLED } })
}
