import { useEffect, useState } from 'react'

/** Seconds left of a wait that `start` begins; 0 when there is none. */
export function useCountdown(): { secondsLeft: number; start: (seconds: number) => void } {
  const [until, setUntil] = useState(0)
  const [now, setNow] = useState(() => Date.now())
  const isRunning = until > now
  useEffect(() => {
    if (!isRunning) return
    const timer = setInterval(() => setNow(Date.now()), 250)
    return () => clearInterval(timer)
  }, [isRunning])
  return {
    secondsLeft: isRunning ? Math.ceil((until - now) / 1_000) : 0,
    start: (seconds) => {
      const from = Date.now()
      setNow(from)
      setUntil(from + seconds * 1_000)
    },
  }
}
