import { useEffect, useRef } from 'react'
import { useBlocker } from 'react-router-dom'
import { confirmDiscard } from '../dialogs/confirm.tsx'

/**
 * The router state of a navigation to which the user has already agreed. With this state, the guard
 * does not ask about unsaved changes again.
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
