import { useSyncExternalStore } from 'react'
import type { SessionUser } from '#read-api/contract/users.ts'
import { onUserChange, storedUser } from './session.ts'

/** The logged-in user, or null; follows logins and logouts of other tabs. */
export function useUser(): SessionUser | null {
  return useSyncExternalStore(onUserChange, storedUser)
}
