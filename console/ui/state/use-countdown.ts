import { useEffect, useReducer, useState } from 'react'

/**
 * Counts down the milliseconds until a moment of `performance.now()`; 0 if it has passed or there
 * is none. With the wall clock, setting the clock back would prolong the wait.
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

/** The whole seconds left of such a wait. */
export const useSecondsLeft = (until: number | null, tickMs?: number): number =>
  Math.ceil(useTimeLeft(until, tickMs) / 1_000)

/** The seconds left of a wait that `start` begins; 0 if there is none. */
export function useCountdown(): { secondsLeft: number; start: (seconds: number) => void } {
  const [until, setUntil] = useState<number | null>(null)
  return {
    secondsLeft: useSecondsLeft(until, 250),
    start: (seconds) => setUntil(performance.now() + seconds * 1_000),
  }
}
