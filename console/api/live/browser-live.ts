import { distinctUntilChanged, fromEvent, map, merge, of, startWith, switchMap, timer } from 'rxjs'
import { createLiveStream, type LiveSocket, type LiveStream } from './live-stream.ts'

const HIDDEN_REST_MS = 60_000

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
    isWatched$: fromEvent(document, 'visibilitychange').pipe(
      startWith(null),
      switchMap(() => (document.hidden ? timer(HIDDEN_REST_MS).pipe(map(() => false)) : of(true))),
      startWith(true),
      distinctUntilChanged(),
    ),
    random: Math.random,
    now: Date.now,
  })
  return shared
}

function connect(): LiveSocket {
  const url = new URL('/api/live', location.href)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  return new WebSocket(url) as LiveSocket
}
