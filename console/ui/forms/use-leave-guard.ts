import { useEffect, useRef } from 'react'
import { useBlocker } from 'react-router-dom'
import { mayLeave } from '../dialogs/may-leave.ts'

/** The router state of a navigation that needs no further confirmation. */
export const SETTLED = { isSettled: true }

/** Asks for confirmation before the user leaves or closes a page with unsaved changes. */
export function useLeaveGuard(hasUnsavedChanges: boolean): void {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) =>
      hasUnsavedChanges &&
      currentLocation.pathname !== nextLocation.pathname &&
      (nextLocation.state as Partial<typeof SETTLED> | null)?.isSettled !== true,
  )
  const isAsking = useRef(false)
  useEffect(() => {
    if (blocker.state !== 'blocked' || isAsking.current) return
    isAsking.current = true
    void mayLeave(true).then((isLeaving) => {
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
