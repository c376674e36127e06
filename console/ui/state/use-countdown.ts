import { useEffect, useReducer, useState } from 'react'

/**
 * Returns the remaining time (ms). `until` is a time of `performance.now()`, so that a change of
 * the system clock does not prolong the wait.
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

/** `secondsLeft` is 0 if no countdown runs. */
export function useCountdown(): { secondsLeft: number; start: (seconds: number) => void } {
  const [until, setUntil] = useState<number | null>(null)
  return {
    secondsLeft: useSecondsLeft(until, 250),
    start: (seconds) => setUntil(performance.now() + seconds * 1_000),
  }
}
