import {
  BehaviorSubject,
  distinctUntilChanged,
  filter,
  finalize,
  map,
  merge,
  NEVER,
  Observable,
  of,
  race,
  repeat,
  Subject,
  share,
  startWith,
  switchMap,
  tap,
  timer,
} from 'rxjs'
import type { LiveRequest } from '#read-api/contract/live-messages.ts'
import { LiveCursor } from './live-cursor.ts'
import { FOLLOWED_TOPICS, type LiveEvent, type LiveState, readLiveMessage } from './live-event.ts'

export type LiveSocket = {
  onopen: (() => void) | null
  onmessage: ((event: { data: unknown }) => void) | null
  onclose: (() => void) | null
  send(text: string): void
  close(): void
}

type LiveDeps = {
  readonly connect: () => LiveSocket
  readonly isOnline$: Observable<boolean>
  /**
   * Emits whether a logged-in user looks at the live site. Emits false after the page has been
   * hidden for a while, so that the stream closes its socket. Also emits false while a scratch copy
   * (the site as of an earlier time) is open.
   */
  readonly isWatched$: Observable<boolean>
  readonly random: () => number
  readonly now: () => number
}

export type LiveStream = {
  readonly state$: Observable<LiveState>
  readonly events$: Observable<LiveEvent>
  readonly retryNow: () => void
}

const RETRY_DELAY_MIN_MS = 500
const RETRY_DELAY_MAX_MS = 30_000
const PING_INTERVAL_MS = 20_000
const SILENCE_MAX_MS = 45_000
/** The time (ms) for which an unused connection stays open, in case another screen needs it. */
const LINGER_MS = 5_000

/**
 * Creates the stream of live events. The stream is connected while a screen uses it, the browser is
 * online and a user looks at the page. Failed connections are retried with increasing delays.
 */
export function createLiveStream(deps: LiveDeps): LiveStream {
  const state$ = new BehaviorSubject<LiveState>({ kind: 'connecting' })
  const retry$ = new Subject<void>()
  const session$ = new Observable<LiveEvent>((screen) => {
    const cursor = new LiveCursor()
    return connectionPermission(deps)
      .pipe(
        switchMap((permission) => {
          if (permission === 'run') return keepConnected(deps, cursor, state$, retry$)
          state$.next({ kind: permission })
          return NEVER
        }),
        finalize(() => state$.next({ kind: 'connecting' })),
      )
      .subscribe(screen)
  })
  return {
    state$: state$.asObservable(),
    events$: session$.pipe(share({ resetOnRefCountZero: () => timer(LINGER_MS) })),
    retryNow: () => retry$.next(),
  }
}

const connectionPermission = ({
  isOnline$,
  isWatched$,
}: LiveDeps): Observable<'run' | 'background' | 'offline'> =>
  isOnline$.pipe(
    switchMap((isOnline) =>
      isOnline
        ? isWatched$.pipe(map((isWatched) => (isWatched ? 'run' : 'background')))
        : of('offline' as const),
    ),
    distinctUntilChanged(),
  )

function keepConnected(
  deps: LiveDeps,
  cursor: LiveCursor,
  state$: Subject<LiveState>,
  retry$: Observable<void>,
): Observable<LiveEvent> {
  let failures = 0
  const ready = (): void => {
    failures = 0
    state$.next({ kind: 'live' })
  }
  state$.next({ kind: 'connecting' })
  return connection(deps, cursor, ready).pipe(
    repeat({
      delay: () => {
        const wait = retryDelayMs(failures++, deps.random())
        state$.next({ kind: 'reconnecting', retryAt: deps.now() + wait })
        return race(timer(wait), retry$)
      },
    }),
  )
}

/**
 * Returns the delay (ms) before the next attempt to connect. The delay doubles with each failure,
 * up to 30 s. The result varies randomly by up to 20 %, so that not all tabs retry at the same
 * time.
 */
function retryDelayMs(failures: number, random: number): number {
  const wait = Math.min(RETRY_DELAY_MAX_MS, RETRY_DELAY_MIN_MS * 2 ** Math.min(failures, 10))
  return Math.round(wait * (0.8 + 0.4 * random))
}

/**
 * Opens a connection. The observable completes when the socket is closed or the server no longer
 * responds.
 */
function connection(deps: LiveDeps, cursor: LiveCursor, ready: () => void): Observable<LiveEvent> {
  return new Observable((listener) => {
    const socket = deps.connect()
    const request = (message: LiveRequest): void => socket.send(JSON.stringify(message))
    const heard = new Subject<void>()
    // `send` throws an error if the socket is still connecting.
    let isOpen = false
    socket.onopen = () => {
      isOpen = true
      const after = cursor.resumeAfter()
      request({
        type: 'subscribe',
        topics: [...FOLLOWED_TOPICS],
        ...(after === null ? {} : { after }),
      })
      heard.next()
    }
    socket.onmessage = ({ data }) => {
      heard.next()
      const message = readLiveMessage(data)
      if (message === null) return
      for (const event of cursor.accept(message)) listener.next(event)
      if (message.type === 'ready') ready()
    }
    socket.onclose = () => listener.complete()
    const ping$ = timer(PING_INTERVAL_MS, PING_INTERVAL_MS).pipe(
      filter(() => isOpen),
      tap(() => request({ type: 'ping' })),
    )
    const silence$ = timer(SILENCE_MAX_MS).pipe(tap(() => listener.complete()))
    const watch = heard
      .pipe(startWith(undefined))
      .pipe(switchMap(() => merge(ping$, silence$)))
      .subscribe()
    return () => {
      watch.unsubscribe()
      socket.onopen = null
      socket.onmessage = null
      socket.onclose = null
      socket.close()
    }
  })
}
