import { useCallback, useEffect, useEffectEvent, useRef } from 'react'

/**
 * Returns a function that runs `perform` at most once per `minIntervalMs` milliseconds. The first
 * call runs `perform` immediately. Further calls within the interval are combined into one run at
 * the end of the interval.
 */
export function useThrottledCallback(perform: () => void, minIntervalMs: number): () => void {
  const run = useEffectEvent(perform)
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null)
  const isPending = useRef(false)
  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current)
      timer.current = null
    },
    [],
  )
  return useCallback(() => {
    isPending.current = true
    const runIfPending = (): void => {
      timer.current = null
      if (!isPending.current) return
      isPending.current = false
      run()
      timer.current = setTimeout(runIfPending, minIntervalMs)
    }
    if (timer.current === null) runIfPending()
  }, [minIntervalMs])
}
