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
import { currentScratchCopy } from '../scratch-copy.ts'
import { isLoggingOut, isRenewingSession, onUserChange, storedUser } from '../session.ts'
import { createLiveStream, type LiveSocket, type LiveStream } from './live-stream.ts'

const HIDDEN_DISCONNECT_MS = 60_000
const SESSION_CHECK_DELAY_MS = 300
/**
 * The code with which the server closes the WebSocket if the session has ended or the client sends
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
      // While a scratch copy (the site as of an earlier time) is open, the console receives no live
      // events, because such events would change what the copy shows.
      map(([isVisible, hasUser]) => isVisible && hasUser && currentScratchCopy() === null),
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
 * Emits whether the user has a session that may receive live events. A session receives no events
 * while the user is logging out, while the session is being renewed, or while the user must replace
 * a password that an admin has set.
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
 * Makes `close` wait until the socket is open. Browsers report an error if a connecting socket is
 * closed.
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
 * Checks after a short delay whether the session is still valid. If another tab has just changed
 * the password, the delay gives that tab the time to store the new session.
 */
function checkSessionAfterDelay(): void {
  setTimeout(() => {
    if (isLoggingOut() || isRenewingSession() || storedUser() === null) return
    void request({ path: '/api/user/self' }).catch(() => {})
  }, SESSION_CHECK_DELAY_MS)
}
