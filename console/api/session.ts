import { useSyncExternalStore } from 'react'
import { ADMIN, AUDITOR, SUPER_ADMIN } from '#read-api/contract/user-roles-and-statuses.ts'
import type { SessionUser } from '#read-api/contract/users.ts'
import { parseObject } from './parse-json-object.ts'

const KEY = 'user'
type Listener = (user: SessionUser | null) => void
const listeners = new Set<Listener>()
const expiryListeners = new Set<() => void>()

/**
 * True while the user is logging out. A 401 response is then expected and does not mean that the
 * session has expired.
 */
let isLeaving = false

let cached: { text: string | null; user: SessionUser | null } = { text: null, user: null }

/**
 * Returns the user who is stored in this browser, or null. The same object is returned until the
 * stored user changes. The role of the stored user only decides what the console shows, because the
 * server checks all permissions itself.
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
  notifyListeners()
}

export function clearUser(): void {
  localStorage.removeItem(KEY)
  notifyListeners()
}

export function startLogout(): void {
  storedUser()
  isLeaving = true
  notifyListeners()
}

export const isLoggingOut = (): boolean => isLeaving

/**
 * Reports whether the user is an auditor or an admin. Only these users can open the pages that
 * `auditorsOnlyPage` creates.
 */
export const isAuditor = (user: SessionUser | null): boolean => (user?.role ?? 0) >= AUDITOR
export const isAdmin = (user: SessionUser | null): boolean => (user?.role ?? 0) >= ADMIN
export const isRoot = (user: SessionUser | null): boolean => (user?.role ?? 0) >= SUPER_ADMIN

/**
 * Removes the stored user after a 401, unless another user has logged in or the user is logging
 * out.
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

export function useUser(): SessionUser | null {
  return useSyncExternalStore(onUserChange, storedUser)
}

function notifyListeners(): void {
  for (const listener of listeners) listener(storedUser())
}

function parseUser(text: string | null): SessionUser | null {
  const user: Partial<SessionUser> | null = text === null ? null : parseObject(text)
  const isUser =
    Number.isInteger(user?.id) &&
    typeof user?.username === 'string' &&
    typeof user.role === 'number'
  return isUser ? (user as SessionUser) : null
}

let renewals = 0
let renewing: Promise<unknown> = Promise.resolve()
let running = 0

/**
 * Sends a request that replaces the session, such as a change of the password. The server ends the
 * old session before the browser receives the new one. If another request gets a 401 in the
 * meantime, it can wait for the new session with `watchSession` and be sent again.
 */
export async function renewSession<T>(perform: () => Promise<T>): Promise<T> {
  running += 1
  notifyListeners()
  const result = perform().finally(() => {
    renewals += 1
    running -= 1
    notifyListeners()
  })
  renewing = result.catch(() => {})
  return result
}

export const isRenewingSession = (): boolean => running > 0

/**
 * Call this function before sending a request, and call the returned function after the response.
 * The returned function waits for the renewal of the session that was started last, if this renewal
 * is still running. Its promise resolves to true if a renewal has ended since `watchSession` was
 * called, even if the renewal failed.
 */
export function watchSession(): () => Promise<boolean> {
  const before = renewals
  return async () => {
    await renewing
    return renewals !== before
  }
}
