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
/** Said by the server of a socket whose session ended, also of one that asks too fast. */
const POLICY_VIOLATION = 1008

let shared: LiveStream | null = null

/** The browser's live stream: made on first use, one for the whole console. */
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
 * After a logout there is nothing to connect again for, though screens linger; and whoever has a
 * password of a reset is told nothing before it is replaced.
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

/** A browser complains of a socket that is closed while it connects: so it is closed after that. */
function closingOnceOpen(socket: WebSocket): WebSocket {
  const close = socket.close.bind(socket)
  socket.close = (...why) => {
    if (socket.readyState !== WebSocket.CONNECTING) close(...why)
    else socket.addEventListener('open', () => close(...why), { once: true })
  }
  return socket
}

/**
 * A page that is only looked at asks nothing: it asks now, and is sent to the login by the 401. Not
 * at once: another tab may be about to get a new session for its new password.
 */
function leaveWhereSessionEnded(): void {
  setTimeout(() => {
    if (hasLeft() || storedUser() === null) return
    void request({ path: '/api/user/self' }).catch(() => {})
  }, NEW_SESSION_MS)
}
