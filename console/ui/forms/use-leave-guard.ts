import { useEffect, useRef, useState } from 'react'
import { useBlocker, useLocation, useNavigate } from 'react-router-dom'
import { confirmDiscard } from '../dialogs/confirm.tsx'

/**
 * The router state of a navigation to which the user has already agreed, so that the guard does not
 * ask about unsaved changes again.
 */
export const LEAVE_CONFIRMED = { isLeaveConfirmed: true }

export function useLeaveGuard(hasUnsavedChanges: boolean): void {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) =>
      hasUnsavedChanges &&
      currentLocation.pathname !== nextLocation.pathname &&
      (nextLocation.state as Partial<typeof LEAVE_CONFIRMED> | null)?.isLeaveConfirmed !== true,
  )
  const isAsking = useRef(false)
  useEffect(() => {
    if (blocker.state !== 'blocked' || isAsking.current) return
    isAsking.current = true
    void confirmDiscard(true).then((isLeaving) => {
      isAsking.current = false
      if (isLeaving) blocker.proceed()
      else blocker.reset()
    })
  }, [blocker])
  useEffect(() => {
    if (!hasUnsavedChanges) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', warn)
    return () => window.removeEventListener('beforeunload', warn)
  }, [hasUnsavedChanges])
}

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
