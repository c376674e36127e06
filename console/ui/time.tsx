import { type ReactElement, useSyncExternalStore } from 'react'
import { useLocale } from '#console/i18n/use-locale.ts'
import { absoluteTimeText, relativeTimeText, stampText } from './time-text.ts'

const TICK_MS = 10_000
const listeners = new Set<() => void>()
let now = Math.floor(Date.now() / 1000)
let timer: ReturnType<typeof setInterval> | undefined

/** Unix seconds, moving every ten seconds; one clock for the whole page, still in hidden tabs. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now)
}

/** A moment (unix seconds): relative with the absolute in its title, or the other way round. */
export function Time(props: { at: number; style?: 'relative' | 'stamp' }): ReactElement {
  const locale = useLocale()
  const current = useNow()
  const isStamp = props.style === 'stamp'
  // The clock moves in steps: what happened since the last one is not in the future.
  const isJustNow = props.at > current && props.at - current <= TICK_MS / 1000
  const relative = relativeTimeText(props.at, isJustNow ? props.at : current, locale)
  const absolute = absoluteTimeText(props.at, locale)
  return (
    <time
      className="tg-time"
      dateTime={new Date(props.at * 1000).toISOString()}
      title={isStamp ? `${relative} · ${absolute}` : absolute}
    >
      {isStamp ? stampText(props.at) : relative}
    </time>
  )
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(tick, TICK_MS)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

function tick(): void {
  if (document.hidden) return
  now = Math.floor(Date.now() / 1000)
  for (const listener of listeners) listener()
}
