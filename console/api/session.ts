import { useSyncExternalStore } from 'react'
import type { SessionUser } from '#read-api/contract/users.ts'

const KEY = 'user'
type Listener = (user: SessionUser | null) => void
const listeners = new Set<Listener>()
const expiryListeners = new Set<() => void>()

/** Roles from which the admin's screens and the super admin's begin. */
export const ADMIN_ROLE = 10
export const ROOT_ROLE = 100

/** Whether the user chose to leave: what the server refuses from then on is no expired session. */
let isLeaving = false

let cached: { text: string | null; user: SessionUser | null } = { text: null, user: null }

/**
 * The user kept after login, or null. It decides only what is shown; every right is the server's
 * to judge. A record that does not parse counts as none. Equal records are the same object.
 */
export function storedUser(): SessionUser | null {
  const text = localStorage.getItem(KEY)
  if (text !== cached.text) {
    cached = { text, user: parseUser(text) }
    if (text !== null) isLeaving = false
  }
  return cached.user
}

export function storeUser(user: SessionUser): void {
  isLeaving = false
  localStorage.setItem(KEY, JSON.stringify(user))
  tell()
}

export function clearUser(): void {
  localStorage.removeItem(KEY)
  tell()
}

/** From here until the next login, calls that are still under way may be refused in silence. */
export function startLeaving(): void {
  storedUser()
  isLeaving = true
  tell()
}

export const hasLeft = (): boolean => isLeaving

export const isAdmin = (user: SessionUser | null): boolean => (user?.role ?? 0) >= ADMIN_ROLE
export const isRoot = (user: SessionUser | null): boolean => (user?.role ?? 0) >= ROOT_ROLE

/**
 * Ends the session of `userId` after the server refused it. A refusal that comes late, when that
 * user has gone, is leaving, or another has logged in since, changes nothing.
 */
export function expireSession(userId: number): void {
  if (isLeaving || storedUser()?.id !== userId) return
  clearUser()
  for (const listener of expiryListeners) listener()
}

export function onSessionExpired(listener: () => void): () => void {
  expiryListeners.add(listener)
  return () => expiryListeners.delete(listener)
}

/** Calls back when the stored user changes, in this tab or another. */
export function onUserChange(listener: Listener): () => void {
  const onStorage = (event: StorageEvent) => {
    if (event.key === KEY || event.key === null) listener(storedUser())
  }
  listeners.add(listener)
  window.addEventListener('storage', onStorage)
  return () => {
    listeners.delete(listener)
    window.removeEventListener('storage', onStorage)
  }
}

/** The logged-in user, or null; follows logins and logouts of other tabs. */
export function useUser(): SessionUser | null {
  return useSyncExternalStore(onUserChange, storedUser)
}

function tell(): void {
  for (const listener of listeners) listener(storedUser())
}

function parseUser(text: string | null): SessionUser | null {
  if (text === null) return null
  try {
    const value: unknown = JSON.parse(text)
    return isUser(value) ? value : null
  } catch {
    return null
  }
}

function isUser(value: unknown): value is SessionUser {
  if (typeof value !== 'object' || value === null) return false
  const { id, username, role } = value as Partial<SessionUser>
  return Number.isInteger(id) && typeof username === 'string' && typeof role === 'number'
}

let renewals = 0
let renewing: Promise<unknown> = Promise.resolve()

/** Runs what ends this browser's session and is answered with a new one. */
export async function renewSession<T>(act: () => Promise<T>): Promise<T> {
  const running = act().finally(() => {
    renewals += 1
  })
  renewing = running.catch(() => {})
  return running
}

/** Call before a request is sent; what it gives tells whether the session is another since. */
export function watchSession(): () => Promise<boolean> {
  const before = renewals
  return async () => {
    await renewing
    return renewals !== before
  }
}
