import { useEffect, useReducer, useState } from 'react'

/**
 * Returns the milliseconds left until `until`, which is a time on the clock of `performance.now()`.
 * The countdown does not depend on the system clock, which may be changed. Returns 0 if `until` is
 * null or in the past.
 */
export function useTimeLeft(until: number | null, tickMs = 500): number {
  const [, draw] = useReducer((ticks: number) => ticks + 1, 0)
  const left = until === null ? 0 : Math.max(0, until - performance.now())
  const isRunning = left > 0
  useEffect(() => {
    if (!isRunning) return
    const timer = setInterval(draw, tickMs)
    return () => clearInterval(timer)
  }, [isRunning, tickMs])
  return left
}

export const useSecondsLeft = (until: number | null, tickMs?: number): number =>
  Math.ceil(useTimeLeft(until, tickMs) / 1_000)

/**
 * A countdown in seconds, for example until another mail can be requested. `secondsLeft` is 0 while
 * the countdown is not running.
 */
export function useCountdown(): { secondsLeft: number; start: (seconds: number) => void } {
  const [until, setUntil] = useState<number | null>(null)
  return {
    secondsLeft: useSecondsLeft(until, 250),
    start: (seconds) => setUntil(performance.now() + seconds * 1_000),
  }
}
