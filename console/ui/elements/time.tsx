import { useSyncExternalStore } from 'react'
import { useLocale } from '#console/i18n/use-locale-and-number-format.ts'
import {
  absoluteTimeText,
  relativeTimeText,
  shortRelativeText,
  shortStampText,
  stampText,
} from './time-text.ts'

const TICK_MS = 10_000
const listeners = new Set<() => void>()
let now = seconds()
let timer: ReturnType<typeof setInterval> | undefined

/**
 * Returns the current time in Unix seconds. This time is updated every ten seconds while the tab is
 * visible.
 */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now)
}

/** Shows a time. `at` is in Unix seconds. */
export function Time(props: {
  at: number
  style?: 'relative' | 'short' | 'stamp' | 'short-stamp'
  /**
   * True if the time may be in the future. If false, the relative text of a future time is that of
   * the current time, because the time is in the future only if the clocks of the server and the
   * browser differ.
   */
  mayBeInFuture?: boolean
}) {
  const locale = useLocale()
  const current = useNow()
  const isStamp = props.style === 'stamp' || props.style === 'short-stamp'
  const from = props.mayBeInFuture === true ? current : Math.max(current, props.at)
  const textOf = props.style === 'short' ? shortRelativeText : relativeTimeText
  const relative = textOf(props.at, from, locale)
  const absolute = absoluteTimeText(props.at, locale)
  return (
    <time
      className="tg-time"
      dateTime={new Date(props.at * 1000).toISOString()}
      title={isStamp ? `${relative} · ${absolute}` : absolute}
    >
      {props.style === 'short-stamp' && shortStampText(props.at, current)}
      {props.style === 'stamp' && stampText(props.at)}
      {!isStamp && relative}
    </time>
  )
}

export const stamp = (at: number) => <Time at={at} style="stamp" />

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  if (timer === undefined) {
    timer = setInterval(tick, TICK_MS)
    document.addEventListener('visibilitychange', tick)
  }
  tick()
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
    document.removeEventListener('visibilitychange', tick)
  }
}

function tick(): void {
  if (document.hidden || now === seconds()) return
  now = seconds()
  for (const listener of listeners) listener()
}

function seconds(): number {
  return Math.floor(Date.now() / 1000)
}
