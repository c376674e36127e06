import {
  combineLatest,
  distinctUntilChanged,
  fromEvent,
  map,
  merge,
  Observable,
  of,
  startWith,
  switchMap,
  timer,
} from 'rxjs'
import type { SessionUser } from '#read-api/contract/users.ts'
import { request } from '../request.ts'
import { openCopy } from '../scratch-copy.ts'
import { isLoggingOut, isRenewingSession, onUserChange, storedUser } from '../session.ts'
import { createLiveStream, type LiveSocket, type LiveStream } from './live-stream.ts'

const HIDDEN_DISCONNECT_MS = 60_000
const SESSION_CHECK_DELAY_MS = 300
/**
 * The WebSocket close code of the server for a session that has ended, or for a client that sends
 * too fast.
 */
const POLICY_VIOLATION = 1008

let shared: LiveStream | null = null

export function liveStream(): LiveStream {
  shared ??= createLiveStream({
    connect,
    isOnline$: merge(fromEvent(window, 'online'), fromEvent(window, 'offline')).pipe(
      startWith(null),
      map(() => navigator.onLine),
      distinctUntilChanged(),
    ),
    isWatched$: combineLatest([isPageVisible$(), isLoggedIn$()]).pipe(
      // Live events would change what a scratch copy shows.
      map(([isLookedAt, isSomebodyIn]) => isLookedAt && isSomebodyIn && openCopy() === null),
      distinctUntilChanged(),
    ),
    random: Math.random,
    now: () => performance.now(),
  })
  return shared
}

const isPageVisible$ = (): Observable<boolean> =>
  fromEvent(document, 'visibilitychange').pipe(
    startWith(null),
    switchMap(() =>
      document.hidden ? timer(HIDDEN_DISCONNECT_MS).pipe(map(() => false)) : of(true),
    ),
    startWith(true),
  )

/**
 * Emits whether there is a session that may receive live events. It emits false for a user who must
 * first replace a reset password, and while a session is being replaced, because the server sends
 * no events then.
 */
const isLoggedIn$ = (): Observable<boolean> =>
  new Observable((screen) => {
    const notify = (user: SessionUser | null) => {
      const hasSession = user !== null && !isLoggingOut() && !isRenewingSession()
      screen.next(hasSession && user.must_change_password !== true)
    }
    notify(storedUser())
    return onUserChange(notify)
  })

function connect(): LiveSocket {
  const url = new URL('/api/live', location.href)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  const socket = new WebSocket(url)
  socket.addEventListener('close', ({ code }) => {
    if (code === POLICY_VIOLATION) checkSessionAfterDelay()
  })
  return closeOnceOpen(socket) as LiveSocket
}

/**
 * Delays `close` until the socket is open, because browsers report an earlier `close` as an error.
 */
function closeOnceOpen(socket: WebSocket): WebSocket {
  const close = socket.close.bind(socket)
  socket.close = (...why) => {
    if (socket.readyState !== WebSocket.CONNECTING) close(...why)
    else socket.addEventListener('open', () => close(...why), { once: true })
  }
  return socket
}

/**
 * Checks after a delay whether the session is still valid. The delay gives a password change in
 * another tab the time to renew the session.
 */
function checkSessionAfterDelay(): void {
  setTimeout(() => {
    if (isLoggingOut() || isRenewingSession() || storedUser() === null) return
    void request({ path: '/api/user/self' }).catch(() => {})
  }, SESSION_CHECK_DELAY_MS)
}
