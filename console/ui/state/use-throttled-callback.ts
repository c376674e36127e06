import { useCallback, useEffect, useEffectEvent, useRef } from 'react'

/** The first call takes effect immediately. The last call is delayed but never lost. */
export function useThrottledCallback(perform: () => void, everyMs: number): () => void {
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
    const turn = (): void => {
      timer.current = null
      if (!isPending.current) return
      isPending.current = false
      run()
      timer.current = setTimeout(turn, everyMs)
    }
    if (timer.current === null) turn()
  }, [everyMs])
}
