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
import { hasLeft, onUserChange, storedUser } from '../session.ts'
import { createLiveStream, type LiveSocket, type LiveStream } from './live-stream.ts'

const HIDDEN_REST_MS = 60_000
const NEW_SESSION_MS = 300
/** The server's close code when the session has ended, and for clients that send too fast. */
const POLICY_VIOLATION = 1008

let shared: LiveStream | null = null

/** The browser's live stream, created on first use and shared by the whole console. */
export function liveStream(): LiveStream {
  shared ??= createLiveStream({
    connect,
    isOnline$: merge(fromEvent(window, 'online'), fromEvent(window, 'offline')).pipe(
      startWith(null),
      map(() => navigator.onLine),
      distinctUntilChanged(),
    ),
    isWatched$: combineLatest([isLookedAt$(), isSomebodyIn$()]).pipe(
      map(([isLookedAt, isSomebodyIn]) => isLookedAt && isSomebodyIn),
      distinctUntilChanged(),
    ),
    random: Math.random,
    now: () => performance.now(),
  })
  return shared
}

const isLookedAt$ = (): Observable<boolean> =>
  fromEvent(document, 'visibilitychange').pipe(
    startWith(null),
    switchMap(() => (document.hidden ? timer(HIDDEN_REST_MS).pipe(map(() => false)) : of(true))),
    startWith(true),
  )

/**
 * After a logout there is nothing to reconnect for, even while pages remain. A user with a reset
 * password receives nothing until the password is replaced.
 */
const isSomebodyIn$ = (): Observable<boolean> =>
  new Observable((screen) => {
    const tell = (user: SessionUser | null) =>
      screen.next(user !== null && user.must_change_password !== true && !hasLeft())
    tell(storedUser())
    return onUserChange(tell)
  })

function connect(): LiveSocket {
  const url = new URL('/api/live', location.href)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  const socket = new WebSocket(url)
  socket.addEventListener('close', ({ code }) => {
    if (code === POLICY_VIOLATION) leaveWhereSessionEnded()
  })
  return closingOnceOpen(socket) as LiveSocket
}

/**
 * A browser reports an error for a socket that is closed while connecting, so it is closed once
 * open.
 */
function closingOnceOpen(socket: WebSocket): WebSocket {
  const close = socket.close.bind(socket)
  socket.close = (...why) => {
    if (socket.readyState !== WebSocket.CONNECTING) close(...why)
    else socket.addEventListener('open', () => close(...why), { once: true })
  }
  return socket
}

/**
 * An idle page sends no requests, so it sends one now, whose 401 leads to the login. The request is
 * delayed, because another tab may be about to get a new session for a changed password.
 */
function leaveWhereSessionEnded(): void {
  setTimeout(() => {
    if (hasLeft() || storedUser() === null) return
    void request({ path: '/api/user/self' }).catch(() => {})
  }, NEW_SESSION_MS)
}
